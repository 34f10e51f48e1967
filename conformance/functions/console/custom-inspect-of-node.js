export default async () => {
  console.log({
    [Symbol.for('nodejs.util.inspect.custom')](d, o, i) {
      return 'N' + d + typeof i + Object.keys(o)
    },
  })
  console.log({
    x: {
      [Symbol.for('nodejs.util.inspect.custom')]() {
        return 'a\nb'
      },
    },
  })
  console.log({
    [Symbol.for('nodejs.util.inspect.custom')]() {
      return { q: 1 }
    },
  })
}
