import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto'

import { LRUCache } from 'lru-cache'

import { MAX_PARSED_KEYS } from './limits.ts'

/**
 * Keys that OpenSSL has read, by what they are made of: reading one takes longer than most of what is done with it. A site that
 * has the bytes has the key, so sharing the parsed key reveals nothing.
 */
export class ParsedKeys {
  readonly #keys = new LRUCache<string, KeyObject>({ max: MAX_PARSED_KEYS })

  publicKey(der: Uint8Array): KeyObject {
    return this.#get('p', der, (key) => createPublicKey({ key, format: 'der', type: 'spki' }))
  }

  privateKey(der: Uint8Array): KeyObject {
    return this.#get('s', der, (key) => createPrivateKey({ key, format: 'der', type: 'pkcs8' }))
  }

  get size(): number {
    return this.#keys.size
  }

  #get(prefix: string, der: Uint8Array, parse: (der: Buffer) => KeyObject): KeyObject {
    const digest = prefix + hash('sha256', der, 'base64')
    const known = this.#keys.get(digest)
    if (known) return known
    const key = parse(Buffer.from(der))
    this.#keys.set(digest, key)
    return key
  }
}
