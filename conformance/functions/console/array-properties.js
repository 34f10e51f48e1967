export default async () => {
  console.log(Object.assign([1], { a: 1 }), Object.assign([], { a: 1 }))
}
