export default async () => {
  console.log({ a: [{ b: { c: {} } }] })
  console.log({ a: [{ b: { c: { d: 1 } } }] })
  console.log({ 'key-with-dash': { nested: ['x', { deep: true }] } })
}
