function twice(method: (n: number) => number, _context: ClassMethodDecoratorContext) {
  return function (this: unknown, n: number) {
    return 2 * method.call(this, n)
  }
}
class Sum {
  @twice next(n: number) {
    return n + 1
  }
}
export default () => new Sum().next(4)
