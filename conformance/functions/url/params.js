export default async () => {
  const p = new URLSearchParams('a=1&b=2&a=3')
  p.append('c', 'é &')
  p.sort()
  return [p.toString(), p.getAll('a'), p.size, p.has('b', '2')]
}
