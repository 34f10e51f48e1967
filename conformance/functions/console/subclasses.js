export default async () => {
  console.log(
    new (class C extends Map {})([[1, 2]]),
    new (class C extends Set {})([1]),
    new (class C extends Array {})(3),
    new (class C extends Uint8Array {})(3),
  )
}
