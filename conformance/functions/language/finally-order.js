export default async () => {
  const out = []
  const f = () => {
    try {
      out.push(1)
      return 2
    } finally {
      out.push(3)
    }
  }
  out.push(f())
  return out
}
