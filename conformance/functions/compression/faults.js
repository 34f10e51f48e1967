export default async () => {
  const broken = new Blob(['no gzip']).stream().pipeThrough(new DecompressionStream('gzip'))
  const late = await new Response(broken).text().then(
    () => 'read',
    (e) => e.name,
  )
  try {
    new CompressionStream('zip')
  } catch (e) {
    return [late, e.name]
  }
}
