export default async () => {
  const t = (f) => {
    try {
      return f()
    } catch (e) {
      return `${e.name}`
    }
  }
  return ['nope', 'http://', 'http://[::1', 'http://a:99999'].map((x) => t(() => new URL(x).href))
}
