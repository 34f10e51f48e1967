export default async () => {
  const s = new Response('abc').body.pipeThrough(
    new TransformStream({
      transform(c, k) {
        k.enqueue(c.map((x) => x - 32))
      },
    }),
  )
  return new Response(s).text()
}
