import { defineInterface, takeInternals } from './interface.ts'

const CONSTRUCT = Symbol('construct')

export type KeyUsage = 'sign' | 'verify'

export interface HmacKeyAlgorithm {
  readonly name: 'HMAC'
  readonly hash: { readonly name: string }
  readonly length: number
}

export interface KeyMaterial {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly algorithm: HmacKeyAlgorithm
  readonly extractable: boolean
  readonly usages: readonly KeyUsage[]
}

/** https://w3c.github.io/webcrypto/#cryptokey-interface; only importKey and generateKey can make one. */
export class CryptoKey {
  readonly #material: KeyMaterial

  constructor(key?: symbol, material?: KeyMaterial) {
    if (key !== CONSTRUCT || material === undefined) throw new TypeError('Illegal constructor')
    this.#material = material
  }

  get type(): string {
    void this.#material
    return 'secret'
  }
  get extractable(): boolean {
    return this.#material.extractable
  }
  get algorithm(): HmacKeyAlgorithm {
    const { hash, length, name } = this.#material.algorithm
    return { name, hash: { ...hash }, length }
  }
  get usages(): KeyUsage[] {
    return [...this.#material.usages]
  }

  static readonly materialOf = (value: unknown): KeyMaterial => {
    if (typeof value === 'object' && value !== null && #material in value) return value.#material
    throw new TypeError("The value is not of type 'CryptoKey'.")
  }
}

export const { materialOf } = takeInternals(CryptoKey)
defineInterface('CryptoKey', CryptoKey)

export const createKey = (material: KeyMaterial): CryptoKey => new CryptoKey(CONSTRUCT, material)
