export default async () => {
  console.log(
    new (class Foo {
      #x = 1
      y = 2
    })(),
    new (class Point {
      constructor() {
        this.x = 1
      }
      get len() {
        return 1
      }
    })(),
  )
  console.log(
    new (class extends class Base {
      a = 1
    } {
      b = 2
    })(),
  )
}
