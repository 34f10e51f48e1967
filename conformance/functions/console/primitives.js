export default async () => {
  console.log('plain', 1, true, null, undefined, -0, 10n, Symbol('s'))
  console.log([undefined, null, NaN, Infinity, -1, 1e21, 0.1, -0])
}
