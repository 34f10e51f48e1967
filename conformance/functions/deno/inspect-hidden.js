export default async () => {
  return [
    Deno.inspect([1, 2], { showHidden: true }),
    Deno.inspect(Object.defineProperty({ a: 1 }, 'hid', { value: 1 }), { showHidden: true }),
    Deno.inspect(
      new (class A {
        get x() {
          return 1
        }
      })(),
      { showHidden: true },
    ),
  ]
}
