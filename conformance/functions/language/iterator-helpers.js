export default async () => {
  return [1, 2, 3, 4]
    .values()
    .filter((x) => x % 2)
    .map((x) => x * 2)
    .toArray()
}
