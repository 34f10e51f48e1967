export default async () => {
  console.log([], [1], [[]], [{}], ['a', 'bb', 'ccc', 'dddd', 'eeeee', 'ffffff', 'ggggggg'])
  console.log(Array.from({ length: 7 }, (_, i) => ({ i })))
}
