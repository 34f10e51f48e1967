export default async () => {
  const o = {
    get a() {
      return 1
    },
    set a(v) {
      this.b = v
    },
  }
  o.a = 5
  return [o.a, o.b, Object.keys(o)]
}
