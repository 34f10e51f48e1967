export default async () => {
  return [
    Deno.inspect({ a: { b: 'x'.repeat(90) }, c: 1 }, { trailingComma: true }),
    Deno.inspect({ a: 1 }, { trailingComma: true }),
    Deno.inspect({ a: 1 }, { trailingComma: true, compact: false }),
  ]
}
