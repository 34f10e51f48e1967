export default async () => {
  console.log(
    (function () {
      return arguments
    })(1, 2),
  )
}
