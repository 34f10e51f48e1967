export default async () => {
  return [
    Deno.inspect({ a: 1, b: 2, c: 'xxxxxxxxxxxxxx' }, { breakLength: 10 }),
    Deno.inspect({ a: { b: 1 }, c: 'x'.repeat(100) }, { breakLength: Infinity }),
    Deno.inspect(
      Array.from({ length: 20 }, (_, i) => i),
      { breakLength: 20 },
    ),
  ]
}
