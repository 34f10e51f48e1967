export default async () => {
  const o = { a: { b: { c: [1, { e: 1 }] } }, z: 'str', m: new Map([['k', { v: 1 }]]) }
  return [false, true, 0, 1, 2].map((compact) => Deno.inspect(o, { compact }))
}
