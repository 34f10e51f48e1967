export default async () => {
  const seen = []
  const p = new Proxy({}, { get: (t, k) => (seen.push(String(k)), 1), has: () => true })
  return [p.a, 'z' in p, seen]
}
