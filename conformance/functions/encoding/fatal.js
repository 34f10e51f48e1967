export default async () => {
  const t = (f) => {
    try {
      return f()
    } catch (e) {
      return `${e.name}`
    }
  }
  return t(() => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff])))
}
