export default async () => {
  console.log('100%', 5)
  console.log('%x %s', 'a')
  console.log(5, '%s', 'x')
  console.log('%%', 1)
  console.log('%%')
  console.log('a%%b', 1)
  console.log('%s')
  console.log('%', 1)
}
