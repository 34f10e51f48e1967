export default async () => {
  return [
    import.meta.url.startsWith('file:///'),
    Object.keys(import.meta).filter((k) => k !== 'main'),
    import.meta.filename.startsWith(import.meta.dirname),
    import.meta.resolve('npm:x'),
    import.meta.resolve('./x') === new URL('./x', import.meta.url).href,
    Object.getPrototypeOf(import.meta),
  ]
}
