export default async () => {
  return Deno.inspect(
    {
      get a() {
        return { x: 1 }
      },
      get b() {
        return 5
      },
      set b(x) {},
      get c() {
        throw new Error('no')
      },
      set d(x) {},
      get n() {
        return null
      },
      get s() {
        return 's'
      },
      get u() {
        return undefined
      },
    },
    { getters: true },
  )
}
