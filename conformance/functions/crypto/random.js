export default async () => {
  const t = (f) => {
    try {
      return f()
    } catch (e) {
      return `${e.name}`
    }
  }
  return [
    crypto.getRandomValues(new Uint8Array(4)).length,
    t(() => crypto.getRandomValues(new Float32Array(1))),
    t(() => crypto.getRandomValues(new Uint8Array(65537))),
  ]
}
