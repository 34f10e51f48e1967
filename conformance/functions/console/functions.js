export default async () => {
  console.log([
    function () {},
    () => {},
    function f() {},
    async () => {},
    function* g() {},
    async function* ag() {},
  ])
  console.log(
    Object.assign(() => {}, { a: 1 }),
    Object.assign(function f() {}, { a: 1 }),
  )
}
