export default async () => {
  return [
    () => null.x,
    () => undefined.f(),
    () => (void 0)(),
    () => x,
    () => new Array(-1),
    () => 'a'.repeat(-1),
    () => BigInt(1.5),
    () => JSON.parse('{'),
    () => decodeURIComponent('%'),
    () =>
      new class {
        #a
        static f(o) {
          return o.#a
        }
      }.constructor.f({}),
    () => structuredClone(() => {}),
    () => Symbol() + '',
  ].map((f) => {
    try {
      f()
      return 'none'
    } catch (e) {
      return `${e.name}: ${e.message}`
    }
  })
}
