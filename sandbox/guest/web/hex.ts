const DIGITS = '0123456789abcdef'

export function hexFromBytes(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    text += `${DIGITS[byte >> 4] ?? ''}${DIGITS[byte & 15] ?? ''}`
  }
  return text
}
