export default async () => {
  console.assert(true)
  console.assert(false)
  console.assert(false, 'because %s', 'x')
  console.assert(0, { a: 1 })
  console.assert()
  console.assert(false, 5, 6)
}
