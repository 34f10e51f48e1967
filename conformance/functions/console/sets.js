export default async () => {
  console.log(new Set(), new Set([1, 'x', { a: 1 }]))
  console.log(new Set(Array.from({ length: 150 }, (_, i) => i)))
}
