export default async () => {
  const h = new Headers([
    ['A', '1'],
    ['a', '2'],
    ['Set-Cookie', 'x'],
    ['Set-Cookie', 'y'],
  ])
  return [[...h], h.get('a'), h.getSetCookie()]
}
