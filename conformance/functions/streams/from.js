export default async () => {
  const out = []
  for await (const x of ReadableStream.from(['a', 'b'])) out.push(x)
  return out
}
