export default async () => {
  const out = []
  setTimeout(() => out.push('timer'), 0)
  queueMicrotask(() => out.push('micro'))
  Promise.resolve().then(() => out.push('then'))
  out.push('now')
  await new Promise((r) => setTimeout(r, 5))
  return out
}
