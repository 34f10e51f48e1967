export default async () => {
  console.log({
    get a() {
      return 1
    },
    set b(x) {},
    get c() {
      return 1
    },
    set c(x) {},
  })
}
