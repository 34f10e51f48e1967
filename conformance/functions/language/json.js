export default async () => {
  return [
    JSON.stringify({ a: [undefined, () => {}, NaN], b: undefined, d: new Date(0), n: 1n < 2 }),
    JSON.stringify({ a: 1 }, null, 2),
    JSON.parse('[1]', (k, v) => (Array.isArray(v) ? v : v + 1)),
    JSON.stringify('\ud800'),
  ]
}
