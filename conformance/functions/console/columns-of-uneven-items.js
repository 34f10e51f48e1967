export default async () => {
  console.log(Array.from({ length: 26 }, (_, i) => 'a'.repeat(i)))
  console.log([1, 22, 333, 4444, 55555, 666666, 7777777, 88888888])
}
