export default async () => {
  const u = new URL('http://u:p@EXAMPLE.com:8080/a/../b?q=1#h')
  return [u.href, u.origin, u.host, u.pathname, u.search, u.hash, u.username]
}
