export default async () => {
  const s = new ReadableStream({
    start(c) {
      c.enqueue(1)
      c.enqueue(2)
      c.close()
    },
  })
  const out = []
  for await (const x of s) out.push(x)
  return out
}
