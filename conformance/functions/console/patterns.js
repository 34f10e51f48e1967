export default async () => {
  console.log(/a+/gi, [/x/], Object.assign(/a/g, { a: 1 }))
}
