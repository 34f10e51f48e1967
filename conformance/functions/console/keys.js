export default async () => {
  console.log({ 'a b': 1, valid_1: 2, '1x': 3, ünï: 4, '': 5, "it's": 6, 3: 8, $d: 9 })
  console.log({ ['__proto__']: 1 })
}
