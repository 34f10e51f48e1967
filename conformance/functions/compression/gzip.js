export default async () => {
  const packed = new Blob(['abc'.repeat(1000)]).stream().pipeThrough(new CompressionStream('gzip'))
  const text = await new Response(packed.pipeThrough(new DecompressionStream('gzip'))).text()
  return [text.length, text.slice(0, 9)]
}
