export default async () => {
  const r = new Response(new URLSearchParams('a=1&b=%C3%A9'))
  return [r.headers.get('content-type'), [...(await r.formData())]]
}
