export default async () => {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])
  const data = new Uint8Array([1])
  const signature = await crypto.subtle.sign('Ed25519', pair.privateKey, data)
  return [
    signature.byteLength,
    await crypto.subtle.verify('Ed25519', pair.publicKey, signature, data),
    Object.keys(await crypto.subtle.exportKey('jwk', pair.publicKey)).toSorted(),
  ]
}
