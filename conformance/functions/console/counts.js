export default async () => {
  console.count()
  console.count('x')
  console.count()
  console.countReset()
  console.count()
  console.countReset('no')
  console.count(null)
}
