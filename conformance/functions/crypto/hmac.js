export default async () => {
  const k = await crypto.subtle.importKey(
    'raw',
    new TextEncoder().encode('key'),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign', 'verify'],
  )
  const s = await crypto.subtle.sign('HMAC', k, new TextEncoder().encode('data'))
  return [
    [...new Uint8Array(s)].slice(0, 8),
    await crypto.subtle.verify('HMAC', k, s, new TextEncoder().encode('data')),
  ]
}
