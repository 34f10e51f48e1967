export default async () => {
  const packed = new Blob(['abc'.repeat(1000)])
    .stream()
    .pipeThrough(new CompressionStream('deflate'))
  const text = await new Response(packed.pipeThrough(new DecompressionStream('deflate'))).text()
  return [text.length, text.slice(0, 9)]
}
