export default async () => {
  return [
    [3, 1, 2].toSorted(),
    [1, 2].with(0, 9),
    [1, [2, [3]]].flat(Infinity),
    [1, 2, 3].findLast((x) => x < 3),
    [1, 2].at(-1),
    Object.groupBy([1, 2, 3], (x) => (x % 2 ? 'odd' : 'even')),
  ]
}
