export default async () => {
  class Odd extends Error {
    name = 'Odd'
  }
  throw new Odd('as it is')
  return 1
}
