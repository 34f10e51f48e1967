export default async () => {
  const packed = new Blob(['abc'.repeat(1000)])
    .stream()
    .pipeThrough(new CompressionStream('deflate-raw'))
  const text = await new Response(packed.pipeThrough(new DecompressionStream('deflate-raw'))).text()
  return [text.length, text.slice(0, 9)]
}
