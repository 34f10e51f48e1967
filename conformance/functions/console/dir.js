export default async () => {
  console.dir({ a: { b: { c: { d: { e: { f: 1 } } } } } })
  console.dir({ a: { b: 1 } }, { depth: 0 })
  console.dir('s')
  console.dir()
  console.dirxml({ a: 1 }, 2)
  console.dir([1, 2, 3], { iterableLimit: 1 })
}
