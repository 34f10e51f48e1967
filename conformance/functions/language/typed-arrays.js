export default async () => {
  return [
    [...new Uint8Array([1, 300])],
    [...new Uint8ClampedArray([300])],
    [...new Float32Array([1.1]).map((x) => x * 2)],
    [...new Uint8Array([3, 1, 2]).toSorted()],
  ]
}
