export default async () => {
  return [
    () => Deno.readTextFileSync(''),
    () => Deno.readTextFileSync('a\0b'),
    () => Deno.readTextFileSync(new URL('http://a')),
  ].map((f) => {
    try {
      f()
    } catch (e) {
      return `${e.name}: ${e.message}`
    }
  })
}
