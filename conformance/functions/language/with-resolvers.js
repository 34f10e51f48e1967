export default async () => {
  const { promise, resolve } = Promise.withResolvers()
  resolve(1)
  return promise
}
