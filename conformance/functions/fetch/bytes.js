export default async () => {
  const r = new Response(new Uint8Array([1, 2]))
  return [...(await r.bytes())]
}
