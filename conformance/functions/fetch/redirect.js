export default async () => {
  const r = Response.redirect('http://a/b', 303)
  return [r.status, r.headers.get('location')]
}
