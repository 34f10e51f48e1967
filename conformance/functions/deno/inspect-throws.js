export default async () => {
  try {
    Deno.inspect({
      [Symbol.for('Deno.customInspect')]() {
        throw new Error('oops')
      },
    })
  } catch (e) {
    return e.message
  }
}
