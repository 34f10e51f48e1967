export default async () => {
  return new Promise((r) => setTimeout((a, b) => r([a, b]), 0, 1, 2))
}
