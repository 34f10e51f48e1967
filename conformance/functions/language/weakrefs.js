export default async () => {
  return [new WeakRef({ a: 1 }).deref().a, new WeakMap([[Object, 1]]).get(Object)]
}
