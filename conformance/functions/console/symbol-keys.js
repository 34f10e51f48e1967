export default async () => {
  console.log({ [Symbol('a b')]: 1, [Symbol('x')]: 2, [Symbol()]: 3, [Symbol.for('y.z')]: 4 })
}
