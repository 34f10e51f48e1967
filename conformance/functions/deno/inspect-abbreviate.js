export default async () => {
  return [
    Deno.inspect(['x'.repeat(20)], { strAbbreviateSize: 5 }),
    Deno.inspect('x'.repeat(6), { strAbbreviateSize: 5 }),
  ]
}
