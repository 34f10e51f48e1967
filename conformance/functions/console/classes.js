export default async () => {
  console.log(
    class A {},
    class B extends Array {},
    class {},
    class C {
      static x = 1
    },
  )
  console.log([class A {}, class extends Map {}])
}
