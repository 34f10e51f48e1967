export default async () => {
  const o = structuredClone({
    d: new Date(0),
    m: new Map([[1, { a: 1 }]]),
    s: new Set([1]),
    r: /a/g,
    b: new Uint8Array([1]),
    n: [, 1],
    u: undefined,
    e: new RangeError('x'),
  })
  return [
    o.d.getTime(),
    o.m.get(1),
    [...o.s],
    `${o.r}`,
    [...o.b],
    0 in o.n,
    'u' in o,
    o.e.name,
    o.e.message,
  ]
}
