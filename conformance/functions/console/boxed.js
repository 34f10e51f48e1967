export default async () => {
  console.log(
    new Number(-0),
    new String('abc'),
    new Boolean(false),
    Object(1n),
    Object(Symbol('b')),
  )
  console.log(Object.assign(new String('ab'), { a: 1 }), new (class N extends Number {})(3))
}
