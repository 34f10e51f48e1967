export default async () => {
  console.table({ r1: { a: 1 }, r2: [1, 2] })
  console.table([
    [1, 2],
    [3, 4],
  ])
  console.table([{ a: { b: 1 } }, 'p', () => 1])
  console.table(['日本', 'x'])
  console.table([{ a: 1 }], ['b'])
  console.table({ a: 1, b: 'x' })
  console.table(new Uint8Array([1, 2]))
}
