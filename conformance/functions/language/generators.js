export default async () => {
  function* g() {
    const a = yield 1
    yield a * 2
    return 3
  }
  const i = g()
  return [i.next(), i.next(5), i.next(), i.next()]
}
