export default async () => {
  console.log(
    Object.create(null),
    Object.assign(Object.create(null), { a: 1 }),
    Object.create({}),
    Object.create(Object.create(null)),
  )
  console.log(
    Object.setPrototypeOf([1, 2], null),
    Object.setPrototypeOf(new Map([[1, 2]]), null),
    Object.setPrototypeOf(() => {}, null),
    Object.setPrototypeOf(/a/, null),
  )
}
