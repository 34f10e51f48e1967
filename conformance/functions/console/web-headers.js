export default async () => {
  console.log(new Headers({ a: '1', 'b-c': 'x' }), new Headers())
}
