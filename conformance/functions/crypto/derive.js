export default async () => {
  const bytes = (text) => new TextEncoder().encode(text)
  const password = await crypto.subtle.importKey('raw', bytes('pass'), 'PBKDF2', false, [
    'deriveBits',
  ])
  const secret = await crypto.subtle.importKey('raw', bytes('secret'), 'HKDF', false, [
    'deriveBits',
  ])
  const bits = await Promise.all([
    crypto.subtle.deriveBits(
      { name: 'PBKDF2', salt: bytes('salt'), iterations: 10, hash: 'SHA-256' },
      password,
      128,
    ),
    crypto.subtle.deriveBits(
      { name: 'HKDF', salt: bytes('salt'), info: bytes('info'), hash: 'SHA-512' },
      secret,
      128,
    ),
  ])
  return bits.map((buffer) => [...new Uint8Array(buffer)])
}
