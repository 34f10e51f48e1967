export default async () => {
  console.log([, 1, , , 2, ,], new Array(5))
}
