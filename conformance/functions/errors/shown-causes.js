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
  console.log(E('a', { cause: E('b') }))
  console.log(E('a', { cause: 'text' }))
  console.log(E('a', { cause: { x: 'y' } }))
  console.log(N('a', { cause: N('b') }))
}
