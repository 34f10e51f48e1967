export default async () => {
  console.log(new Date(0), new Date(NaN), [new Date(0)], Object.assign(new Date(0), { a: 1 }))
}
