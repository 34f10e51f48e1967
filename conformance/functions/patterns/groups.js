export default () => {
  const pattern = new URLPattern({ pathname: '/books/:id{.:format}?' })
  const { pathname } = pattern.exec('http://a/books/5.json')
  return [pathname, pattern.test('http://a/book'), pattern.hasRegExpGroups]
}
