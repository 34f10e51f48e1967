export default async () => {
  console.log(
    { [Symbol.toStringTag]: 'T', a: 1 },
    new (class Foo {
      get [Symbol.toStringTag]() {
        return 'Bar'
      }
    })(),
  )
}
