export default async () => {
  console.log(
    (() => {
      const m = new Map()
      m.set(m, m)
      return m
    })(),
  )
}
