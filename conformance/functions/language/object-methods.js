export default async () => {
  return [
    Object.fromEntries([['a', 1]]),
    Object.entries({ b: 2 }),
    Object.hasOwn({ c: 1 }, 'c'),
    Object.is(-0, 0),
  ]
}
