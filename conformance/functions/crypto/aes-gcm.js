export default async () => {
  const key = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-GCM', true, [
    'encrypt',
    'decrypt',
  ])
  const sealed = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv: new Uint8Array(12) },
    key,
    new Uint8Array([1, 2]),
  )
  const opened = await crypto.subtle.decrypt(
    { name: 'AES-GCM', iv: new Uint8Array(12) },
    key,
    sealed,
  )
  return [
    [...new Uint8Array(sealed)],
    [...new Uint8Array(opened)],
    key.algorithm,
    key.usages,
    await crypto.subtle.exportKey('jwk', key),
  ]
}
