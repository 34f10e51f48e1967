export default async () => {
  return [
    Reflect.ownKeys({ b: 1, 1: 1, [Symbol.for('s')]: 1 }).map(String),
    Reflect.has({ a: 1 }, 'a'),
  ]
}
