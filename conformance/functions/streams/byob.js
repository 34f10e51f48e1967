export default async () => {
  const stream = new ReadableStream({
    type: 'bytes',
    start(c) {
      c.enqueue(new Uint8Array([1, 2, 3]))
      c.close()
    },
  })
  const reader = stream.getReader({ mode: 'byob' })
  const { value, done } = await reader.read(new Uint8Array(2))
  return [[...value], done]
}
