export default async () => {
  console.log({
    a: {
      b: {
        c: {
          d: {
            e: new Date(0),
            f: /x/,
            g: () => {},
            h: new Uint8Array(3),
            i: new (class Q {
              x = 1
            })(),
            j: Object.create(null),
            k: new Set([1]),
          },
        },
      },
    },
  })
}
