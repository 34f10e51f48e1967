export default async () => {
  const hex = (b) => [...new Uint8Array(b)].map((x) => x.toString(16).padStart(2, '0')).join('')
  return Promise.all(
    ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'].map(async (n) =>
      hex(await crypto.subtle.digest(n, new TextEncoder().encode('abc'))),
    ),
  )
}
