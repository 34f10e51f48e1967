export default async () => {
  const a = { n: 1 }
  a.self = a
  const b = structuredClone(a)
  return [b.self === b, b !== a]
}
