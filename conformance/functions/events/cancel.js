export default async () => {
  const t = new EventTarget()
  t.addEventListener('x', (e) => e.preventDefault())
  return [t.dispatchEvent(new Event('x', { cancelable: true })), t.dispatchEvent(new Event('x'))]
}
