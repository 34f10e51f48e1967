export default async () => {
  const r = new Response('{"a":1}', { status: 201, headers: { x: 'y' } })
  return [r.status, r.ok, [...r.headers], await r.json()]
}
