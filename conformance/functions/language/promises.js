export default async () => {
  return [
    await Promise.all([1, Promise.resolve(2)]),
    await Promise.allSettled([1, Promise.reject(2)]),
    await Promise.any([Promise.reject(1), 3]),
    await Promise.race([new Promise(() => {}), 4]),
  ]
}
