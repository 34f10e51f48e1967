export default async () => {
  const { a, ...rest } = { a: 1, b: 2, c: 3 }
  const [x, , y = 9] = [1, 2]
  return [a, rest, x, y]
}
