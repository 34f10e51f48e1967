export default async () => {
  console.log(
    new Map([
      ['k', { v: 1 }],
      [{ o: 1 }, new Set([1, 'x'])],
    ]),
    new Map(),
  )
  console.log(new Map(Array.from({ length: 150 }, (_, i) => [i, i])))
}
