export default async () => {
  return [...new Set([1, 2]).union(new Set([3]))].concat([
    ...new Set([1, 2]).intersection(new Set([2])),
  ])
}
