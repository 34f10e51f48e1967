export default async () => {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const data = new Uint8Array([1])
  const signature = await crypto.subtle.sign(algorithm, pair.privateKey, data)
  return [
    signature.byteLength,
    await crypto.subtle.verify(algorithm, pair.publicKey, signature, data),
    pair.publicKey.algorithm,
    pair.privateKey.usages,
  ]
}
