export default async () => {
  const v = new DataView(new ArrayBuffer(8))
  v.setFloat64(0, Math.PI)
  return [v.getUint8(0), v.getInt32(4), v.getUint16(0, true)]
}
