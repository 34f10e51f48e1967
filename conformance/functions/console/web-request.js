export default async () => {
  console.log(
    new Request('http://a.b/c'),
    new Request('http://a.b/c', { method: 'POST', body: 'x', headers: { a: 'b' } }),
  )
}
