export default async () => {
  return new CustomEvent('x', { detail: { a: 1 } }).detail
}
