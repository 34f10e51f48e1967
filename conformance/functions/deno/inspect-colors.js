export default async () => {
  return Deno.inspect(
    {
      a: 1,
      b: 's',
      c: null,
      d: undefined,
      e: true,
      f: Symbol('x'),
      g: 1n,
      h: new Date(0),
      j: /x/,
      k: [1, , 2],
      l: () => {},
      m: new Map([[1, 2]]),
      n: class A {},
      'a-b': 1,
      [Symbol('q')]: 1,
      get z() {
        return 1
      },
      v: new Number(1),
    },
    { colors: true },
  )
}
