export default async () => {
  console.log(new Uint8Array([1, 2, 3]), new Float64Array([1.5, -0]), new BigInt64Array(2))
  console.log(new Uint8Array(200))
}
