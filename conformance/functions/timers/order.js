export default async () => {
  const out = []
  await new Promise((r) => {
    setTimeout(() => {
      out.push(2)
      r()
    }, 10)
    setTimeout(() => out.push(1), 1)
  })
  return out
}
