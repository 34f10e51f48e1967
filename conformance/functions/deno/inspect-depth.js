export default async () => {
  const o = { a: { b: { c: { d: [1, 2, { e: 1 }] } } } }
  return [0, 1, Infinity, null, -1].map((depth) => Deno.inspect(o, { depth }))
}
