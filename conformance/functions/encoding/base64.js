export default async () => {
  const t = (f) => {
    try {
      return f()
    } catch (e) {
      return `${e.name}`
    }
  }
  return [btoa('abc'), atob('YWJj'), t(() => btoa('€')), t(() => atob('*'))]
}
