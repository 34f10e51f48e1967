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
      const e = E('m')
      e.stack = undefined
      return e
    })(),
  )
  console.log(
    (() => {
      const e = E('m')
      delete e.stack
      return e
    })(),
  )
  console.log(Object.create(Error.prototype))
}
