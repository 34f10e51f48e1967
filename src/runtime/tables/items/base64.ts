import { Buffer } from 'node:buffer'

/** Whether a text is what an encoder would have written: padded, and no stray bits in its end. */
export function isCanonicalBase64(text: string): boolean {
  return text.length % 4 === 0 && Buffer.from(text, 'base64').toString('base64') === text
}

export const base64ToBytes = (base64: string): Buffer => Buffer.from(base64, 'base64')

/** Length of the bytes behind canonical base64, without decoding it. */
export function decodedLength(base64: string): number {
  if (base64 === '') return 0
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return (base64.length / 4) * 3 - padding
}
