export default async () => {
  const out = []
  const t = new EventTarget()
  t.addEventListener('x', (e) => out.push(e.type, e.target === t))
  t.addEventListener('x', () => out.push('once'), { once: true })
  t.dispatchEvent(new Event('x'))
  t.dispatchEvent(new Event('x'))
  return out
}
