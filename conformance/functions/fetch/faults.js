export default async () => {
  const t = (f) => {
    try {
      return f()
    } catch (e) {
      return `${e.name}`
    }
  }
  return [
    t(() => new Response('', { status: 99 })),
    t(() => new Request('nope')),
    t(() => new Headers({ 'a b': '1' })),
    t(() => new Request('http://a', { body: 'x' })),
  ]
}
