export default async () => {
  return [
    typeof Deno.serve,
    [() => Deno.serve(), () => Deno.serve({}), () => Deno.serve({ handler: 5 })].map((f) => {
      try {
        f()
      } catch (e) {
        return `${e.name}: ${e.message}`
      }
    }),
  ]
}
