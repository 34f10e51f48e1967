export default async () => {
  return [
    Symbol('a').description,
    Symbol.keyFor(Symbol.for('k')),
    Object(Symbol.iterator).toString(),
  ]
}
