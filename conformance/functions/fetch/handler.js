export default async () => {
  const app = {
    fetch: (request) =>
      new Response(request.method + new URL(request.url).pathname, { status: 202 }),
  }
  const r = await app.fetch(new Request('http://a/p', { method: 'POST' }))
  return [r.status, await r.text()]
}
