export default async () => {
  console.log({ a: 'x'.repeat(60), b: 'y'.repeat(60) })
  console.log(new Array(3).fill({ a: 1, b: 2, c: 3, d: 'a long enough string to make wraps' }))
  console.log({
    a: 1,
    b: 'two',
    c: [1, 2, 3],
    d: { e: { f: { g: 1 } } },
    h: new Map([['k', { v: 1 }]]),
    i: new Set([1, 'x']),
  })
}
