export default async () => {
  console.log(
    (() => {
      const a = {}
      a.self = a
      a.l = [a, { a }]
      return a
    })(),
  )
  console.log(
    (() => {
      const a = []
      a.push(a)
      return a
    })(),
  )
  console.log(
    (() => {
      const a = { n: 1 },
        b = { a }
      a.b = b
      return [a, b]
    })(),
  )
}
