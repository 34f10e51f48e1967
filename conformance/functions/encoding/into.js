export default async () => {
  const b = new Uint8Array(4)
  const r = new TextEncoder().encodeInto('aé€', b)
  return [r, [...b]]
}
