import { hkdfSync, randomBytes } from 'node:crypto'

import { decrypt, encrypt } from './aes-gcm.ts'

const KEY_BYTES = 32

export interface WrappedSiteKey {
  readonly siteId: string
  readonly wrappedKey: Uint8Array
}

/**
 * Secrets at rest: AES-256-GCM, 12 random bytes of nonce, the context as additional data. A site's secrets are sealed
 * with the site's own key, which is stored wrapped by the instance's master key.
 */
export class Sealer {
  readonly #masterKey: Uint8Array
  readonly #wrappingKey: Buffer

  constructor(masterKey: Uint8Array) {
    if (masterKey.length !== KEY_BYTES) throw new Error(`A master key has ${KEY_BYTES} bytes`)
    this.#masterKey = Buffer.from(masterKey)
    this.#wrappingKey = this.derive('site-key-wrapping')
  }

  /** A fresh site key, wrapped for storage. */
  newSiteKey(siteId: string): Buffer {
    return encrypt(this.#wrappingKey, siteId, randomBytes(KEY_BYTES))
  }

  /** `context` says what the secret is (`signing-key:{kid}`); the same words open it, others do not. */
  seal(key: WrappedSiteKey, context: string, plaintext: Uint8Array): Buffer {
    return encrypt(this.#unwrap(key), context, plaintext)
  }

  open(key: WrappedSiteKey, context: string, sealed: Uint8Array): Buffer {
    const plaintext = decrypt(this.#unwrap(key), context, sealed)
    if (plaintext) return plaintext
    throw new Error(
      `The secret "${context}" of site "${key.siteId}" does not open: it was sealed for something else, or changed`,
    )
  }

  /** A key for one purpose of the instance, derived from the master key (HKDF-SHA-256): page tokens, signed URLs. */
  derive(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#masterKey, '', `croft:${purpose}`, KEY_BYTES))
  }

  #unwrap(key: WrappedSiteKey): Buffer {
    const siteKey = decrypt(this.#wrappingKey, key.siteId, key.wrappedKey)
    if (siteKey) return siteKey
    throw new Error(
      `The key of site "${key.siteId}" does not open: it was wrapped with another master key, or for another site`,
    )
  }
}
