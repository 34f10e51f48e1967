export default () => {
  const pattern = new URLPattern('https://*.shop.test:8080/a/*?q=:q#h')
  return [
    pattern.protocol,
    pattern.hostname,
    pattern.port,
    pattern.pathname,
    pattern.search,
    pattern.hash,
    pattern.exec('https://x.shop.test:8080/a/b?q=1#h').search.groups,
  ]
}
