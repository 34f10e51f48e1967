export default async () => {
  async function* g() {
    yield 1
    yield 2
  }
  const out = []
  for await (const x of g()) out.push(x)
  return out
}
