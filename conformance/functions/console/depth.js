export default async () => {
  console.log({ a: { b: { c: { d: { e: { f: 1 } } } } } })
  console.log([[[[[[1]]]]]])
  console.log([[[[[[]]]]]])
  console.log({ a: { b: { c: { d: { e: new Map([[1, 2]]) } } } } })
}
