export default async () => {
  return [typeof setTimeout(() => {}, 0), typeof queueMicrotask]
}
