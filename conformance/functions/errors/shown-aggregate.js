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
      const e = new AggregateError([E('x'), N('y'), 5], 'agg')
      e.stack = 'AggregateError: agg\n    at z (q.js:1:1)'
      return e
    })(),
  )
}
