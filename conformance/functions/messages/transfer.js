export default async () => {
  const bytes = new Uint8Array([1, 2, 3])
  const moved = structuredClone(bytes, { transfer: [bytes.buffer] })
  return [bytes.byteLength, [...moved]]
}
