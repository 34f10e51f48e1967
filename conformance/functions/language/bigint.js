export default async () => {
  return [`${2n ** 64n}`, `${-7n / 2n}`, typeof 1n, 1n < 2, `${BigInt.asIntN(8, 255n)}`]
}
