export default async () => {
  console.log('%d %d %d', 42.9, -42.9, -0)
  console.log('%i', 1e21)
  console.log('%d %d', NaN, Infinity)
  console.log('%f %f', -0, 10n)
}
