export default async () => {
  console.log('%s', Symbol('x'))
  console.log('%s', { a: 1 })
  console.log('%s', [1, [2]])
  console.log('%s %s', null, undefined)
  console.log('%s', {
    toString() {
      return 'TS'
    },
  })
}
