export default async () => {
  const [a, b] = new ReadableStream({
    start(c) {
      c.enqueue('x')
      c.close()
    },
  }).tee()
  return [(await a.getReader().read()).value, (await b.getReader().read()).value]
}
