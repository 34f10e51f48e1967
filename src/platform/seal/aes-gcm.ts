import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 1 + NONCE_BYTES

/** AES-256-GCM: version, nonce, ciphertext, tag. `context` is authenticated, not stored. */
export function encrypt(key: Uint8Array, context: string, plaintext: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(context))
  return Buffer.concat([
    Buffer.of(VERSION),
    nonce,
    cipher.update(plaintext),
    cipher.final(),
    cipher.getAuthTag(),
  ])
}

/** Undefined when key or context is another one, or a single bit has changed. */
export function decrypt(key: Uint8Array, context: string, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length < HEADER_BYTES + TAG_BYTES || sealed[0] !== VERSION) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, HEADER_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
  const head = decipher.update(sealed.subarray(HEADER_BYTES, sealed.length - TAG_BYTES))
  try {
    return Buffer.concat([head, decipher.final()])
  } catch {
    // The tag does not match: the one way in which `final` fails.
    return undefined
  }
}
