export default async () => {
  const r = new Response('abc')
  const c = r.clone()
  return [await r.text(), await c.text()]
}
