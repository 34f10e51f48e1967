export default async () => {
  const E = (m, o) => {
    const e = new Error(m, o)
    e.stack = `Error: ${m}\n    at foo (x.js:1:2)`
    return e
  }
  const N = (m, o) => {
    const e = new Error(m, o)
    e.stack = `Error: ${m}`
    return e
  }
  console.log(
    (() => {
      const e = E('a')
      e.cause = e
      return e
    })(),
  )
  console.log(
    (() => {
      const e = E('a'),
        b = E('b')
      e.cause = b
      b.cause = e
      return e
    })(),
  )
}
