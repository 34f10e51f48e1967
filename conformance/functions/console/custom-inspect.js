export default async () => {
  console.log({
    [Symbol.for('Deno.customInspect')](i, o) {
      return 'CI ' + i({ a: 1 }, o)
    },
  })
  console.log([
    {
      [Symbol.for('Deno.customInspect')]() {
        return { a: 1 }
      },
    },
  ])
}
