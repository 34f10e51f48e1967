export default async () => {
  const t = (f) => {
    try {
      return f()
    } catch (e) {
      return `${e.name}`
    }
  }
  return [t(() => structuredClone(() => {})), t(() => structuredClone(Symbol()))]
}
