export default async () => {
  console.table([
    { a: 1, b: 'x' },
    { a: 2, c: true },
  ])
  console.table([{ a: 1, b: 'x' }], ['a'])
  console.table([1, 'z'])
  console.table(5)
  console.table(
    new Map([
      ['a', 1],
      ['b', { x: 1 }],
    ]),
  )
  console.table(new Set([1, 'x']))
  console.table([])
}
