export default async () => {
  const r = new Request('http://a.b/c?d', { method: 'put', body: 'x', headers: { q: '1' } })
  return [r.method, r.url, [...r.headers], await r.text(), r.bodyUsed]
}
