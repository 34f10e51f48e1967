export default async () => {
  const out = []
  const bytes = ReadableStream.from([new Uint8Array([0xe2]), new Uint8Array([0x82, 0xac, 0x21])])
  for await (const text of bytes.pipeThrough(new TextDecoderStream())) out.push(text)
  return out
}
