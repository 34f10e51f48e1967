import { defineInterface, takeInternals } from './interface.ts'
import { map, setBytes, Uint8ArrayClass } from './primordials.ts'

const CONSTRUCT = Symbol('construct')

export type KeyType = 'private' | 'public' | 'secret'
export type KeyUsage =
  | 'encrypt'
  | 'decrypt'
  | 'sign'
  | 'verify'
  | 'deriveKey'
  | 'deriveBits'
  | 'wrapKey'
  | 'unwrapKey'

/** What an algorithm's keys say of themselves; each has some of these. */
export interface KeyAlgorithm {
  readonly name: string
  /** In bits. */
  readonly modulusLength?: number
  readonly publicExponent?: Uint8Array
  readonly hash?: string
  readonly namedCurve?: string
  /** In bits. */
  readonly length?: number
}

export interface KeyMaterial {
  readonly type: KeyType
  readonly algorithm: KeyAlgorithm
  readonly extractable: boolean
  readonly usages: readonly KeyUsage[]
  /** The secret itself; PKCS #8 of a private key, SubjectPublicKeyInfo of a public one. */
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** https://w3c.github.io/webcrypto/#cryptokey-interface; only SubtleCrypto can make one, and read what is in it. */
export class CryptoKey {
  readonly #material: KeyMaterial
  #algorithm: object | undefined
  #usages: KeyUsage[] | undefined

  constructor(key?: symbol, material?: KeyMaterial) {
    if (key !== CONSTRUCT || material === undefined) throw new TypeError('Illegal constructor')
    this.#material = material
  }

  get type(): KeyType {
    return this.#material.type
  }
  get extractable(): boolean {
    return this.#material.extractable
  }
  get algorithm(): object {
    const { algorithm } = this.#material
    this.#algorithm ??= shownAlgorithm(algorithm)
    return this.#algorithm
  }
  get usages(): KeyUsage[] {
    const { usages } = this.#material
    this.#usages ??= map(usages, (usage) => usage)
    return this.#usages
  }

  static readonly materialOf = (value: unknown): KeyMaterial | undefined =>
    typeof value === 'object' && value !== null && #material in value ? value.#material : undefined
}

export const { materialOf } = takeInternals(CryptoKey)
defineInterface('CryptoKey', CryptoKey)

export const createKey = (material: KeyMaterial): CryptoKey => new CryptoKey(CONSTRUCT, material)

/** What a site may change has no effect on what the key does. */
function shownAlgorithm(algorithm: KeyAlgorithm): object {
  const { name, modulusLength, publicExponent, hash, namedCurve, length } = algorithm
  return {
    name,
    ...(modulusLength === undefined ? {} : { modulusLength }),
    ...(publicExponent === undefined ? {} : { publicExponent: copied(publicExponent) }),
    ...(hash === undefined ? {} : { hash: { name: hash } }),
    ...(namedCurve === undefined ? {} : { namedCurve }),
    ...(length === undefined ? {} : { length }),
  }
}

function copied(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8ArrayClass(bytes.length)
  setBytes(copy, bytes)
  return copy
}
