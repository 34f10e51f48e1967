export default () => [
  new URLPattern('/p/:n', 'http://a.b').test('http://a.b/p/1'),
  new URLPattern('/p', 'http://a.b').test('/p', 'http://a.b'),
  new URLPattern({ pathname: '/P' }, { ignoreCase: true }).test('http://a/p'),
]
