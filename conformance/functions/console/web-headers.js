export default async () => {
  console.log(new Headers({ a: '1', 'b-c': 'x' }), new Headers())
  const twice = [
    ['Set-Cookie', 'a=b'],
    ['Set-Cookie', 'c=d'],
    ['x', '1'],
    ['x', '2'],
  ]
  console.log(new Headers(twice))
}
