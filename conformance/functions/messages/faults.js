export default async () =>
  [
    () => structuredClone(() => {}),
    () => structuredClone(Symbol('s')),
    () => structuredClone(),
    () => structuredClone(new WeakMap()),
    () => new MessageChannel().port1.postMessage(),
  ].map((f) => {
    try {
      f()
      return 'none'
    } catch (e) {
      return [e.name, e.code, e.message]
    }
  })
