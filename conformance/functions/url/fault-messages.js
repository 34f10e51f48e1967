const said = (work) => {
  try {
    return String(work())
  } catch (error) {
    return `${error.name}: ${error.message}`
  }
}
const mine = {
  toString() {
    throw new RangeError('mine')
  },
}

export default async () =>
  [
    () => new URL('nope'),
    () => new URL(''),
    () => new URL('http://a:99999/'),
    () => new URL('http://[1'),
    () => new URL('/a', 'nope'),
    () => new URL('1://foo', undefined),
    () => new URL(),
    () => URL('http://a'),
    () => URL.canParse(),
    () => URL.parse(),
    () => URL.parse('nope'),
    () => new URL(mine),
    () => URL.canParse(mine),
    () => {
      const url = new URL('http://a')
      url.href = 'nope'
      return url
    },
    () => Object.create(URL.prototype) instanceof URL,
    () => new (class Site extends URL {})('http://a/b').pathname,
    () => new URL('http://a').constructor === URL,
    () => [URL.length, URL.name, URL.canParse.length, URL.parse.name],
  ].map(said)
