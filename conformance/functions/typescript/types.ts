interface Shape {
  readonly kind: 'a' | 'b'
}
type Of<T> = { [K in keyof T]: T[K][] }
const value = { kind: 'a' } satisfies Shape
abstract class Base<T> {
  declare gone: T
  abstract name(): string
}
class Real extends Base<number> {
  override name(): string {
    return 'real'
  }
}
export default (): Of<Shape> & { keys: string[]; name: string } => ({
  kind: [value!.kind],
  keys: Object.keys(new Real()),
  name: new Real().name(),
})
