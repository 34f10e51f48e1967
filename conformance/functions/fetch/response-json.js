export default async () => {
  const r = Response.json({ a: 1 }, { status: 418 })
  return [r.status, r.headers.get('content-type'), await r.text()]
}
