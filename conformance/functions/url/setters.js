export default async () => {
  const u = new URL('http://a/')
  u.port = '99'
  u.pathname = 'é x'
  u.search = 'a=b c'
  u.hash = 'q'
  u.protocol = 'https'
  return u.href
}
