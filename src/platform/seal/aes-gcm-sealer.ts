import { hkdfSync, randomBytes } from 'node:crypto'

import { decrypt, encrypt } from './aes-gcm.ts'
import type { Sealer, WrappedSiteKey } from './sealer.ts'

const KEY_BYTES = 32

export class AesGcmSealer implements Sealer {
  readonly #masterKey: Uint8Array
  readonly #wrappingKey: Buffer

  constructor(masterKey: Uint8Array) {
    if (masterKey.length !== KEY_BYTES) throw new Error(`A master key has ${KEY_BYTES} bytes`)
    this.#masterKey = Buffer.from(masterKey)
    this.#wrappingKey = this.derive('site-key-wrapping')
  }

  newSiteKey(siteId: string): Buffer {
    return encrypt(this.#wrappingKey, siteId, randomBytes(KEY_BYTES))
  }

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
