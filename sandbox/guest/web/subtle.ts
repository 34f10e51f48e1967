import { createKey, materialOf } from './crypto-key.ts'
import type { CryptoKey, KeyUsage } from './crypto-key.ts'
import { DOMException } from './dom-exception.ts'
import { algorithmName, blockLength, hashDigest, hashName, hmacOf } from './hashes.ts'
import type { HashName } from './hashes.ts'
import { host } from './host.ts'
import { copyMember, defineInterface, defineOperation } from './interface.ts'
import { exportJwk, importJwk } from './jwk.ts'
import { create, hasOwn } from './primordials.ts'
import { isWebIdlObject, shownBytes } from './webidl.ts'

const USAGES: readonly string[] = ['sign', 'verify']
/** Methods for algorithms that are not here, with the place of the algorithm among their arguments. */
const NOT_HERE = { encrypt: 0, decrypt: 0, deriveBits: 0, deriveKey: 0, wrapKey: 3, unwrapKey: 3 }

/** https://w3c.github.io/webcrypto/#subtlecrypto-interface: digests and HMAC. */
export class SubtleCrypto {
  constructor() {
    throw new TypeError('Illegal constructor')
  }

  async digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
    return hashDigest(hashName(algorithm), bytesOf(data)).buffer
  }

  async generateKey(algorithm: unknown, extractable: boolean, usages: unknown): Promise<CryptoKey> {
    const hash = hmacHash(algorithm)
    const length = lengthOf(algorithm) ?? blockLength(hash) * 8
    if (length === 0 || length % 8 !== 0)
      throw new DOMException('The key length must be a multiple of 8 bits.', 'OperationError')
    return hmacKey(host.random(length / 8), hash, { extractable, usages })
  }

  async importKey(
    format: string,
    data: unknown,
    algorithm: unknown,
    ...[extractable, usages]: [boolean, unknown]
  ): Promise<CryptoKey> {
    const hash = hmacHash(algorithm)
    if (format !== 'raw' && format !== 'jwk')
      throw new DOMException(
        `Key format "${format}" is not supported for HMAC`,
        'NotSupportedError',
      )
    const bytes =
      format === 'raw'
        ? bytesOf(data)
        : importJwk(data, hash, { extractable, usages: strings(usages) })
    if (bytes.length === 0) throw new DOMException('Zero-length key is not supported', 'DataError')
    const length = lengthOf(algorithm)
    if (length !== undefined && (length > bytes.length * 8 || length <= bytes.length * 8 - 8))
      throw new DOMException('Invalid key length', 'DataError')
    return hmacKey(bytes, hash, { extractable, usages })
  }

  async exportKey(format: string, key: CryptoKey): Promise<ArrayBuffer | object> {
    const material = materialOf(key)
    if (!material.extractable)
      throw new DOMException('key is not extractable', 'InvalidAccessError')
    if (format === 'raw') return material.bytes.slice().buffer
    if (format === 'jwk') return exportJwk(material)
    throw new DOMException(`Key format "${format}" is not supported for HMAC`, 'NotSupportedError')
  }

  async sign(algorithm: unknown, key: CryptoKey, data: unknown): Promise<ArrayBuffer> {
    return signature(algorithm, { key, usage: 'sign' }, bytesOf(data)).buffer
  }

  async verify(
    algorithm: unknown,
    key: CryptoKey,
    ...[given, data]: [unknown, unknown]
  ): Promise<boolean> {
    const claimed = bytesOf(given)
    return sameBytes(signature(algorithm, { key, usage: 'verify' }, bytesOf(data)), claimed)
  }
}

for (const [name, position] of Object.entries(NOT_HERE)) {
  const method = async (...given: unknown[]): Promise<never> => refuse(given[position])
  copyMember(SubtleCrypto, name, { [name]: defineOperation(name, position || 1, method) })
}
defineInterface('SubtleCrypto', SubtleCrypto)

export const subtle = create(SubtleCrypto.prototype) as SubtleCrypto

function signature(
  algorithm: unknown,
  { key, usage }: { key: unknown; usage: KeyUsage },
  data: Uint8Array,
): Uint8Array<ArrayBuffer> {
  if (algorithmName(algorithm) !== 'HMAC') refuse(algorithm)
  const material = materialOf(key)
  if (!material.usages.includes(usage))
    throw new DOMException(`The key may not be used to ${usage}`, 'InvalidAccessError')
  return hmacOf(hashName(material.algorithm.hash), material.bytes, data)
}

function hmacKey(
  bytes: Uint8Array<ArrayBuffer>,
  hash: HashName,
  { extractable, usages }: { extractable: boolean; usages: unknown },
): CryptoKey {
  const wanted = strings(usages)
  if (wanted.some((usage) => !USAGES.includes(usage)))
    throw new DOMException('Unsupported key usage for an HMAC key', 'SyntaxError')
  if (wanted.length === 0)
    throw new DOMException('Usages cannot be empty when creating a key.', 'SyntaxError')
  return createKey({
    bytes,
    algorithm: { name: 'HMAC', hash: { name: hash }, length: bytes.length * 8 },
    extractable: Boolean(extractable),
    usages: (['sign', 'verify'] as const).filter((usage) => wanted.includes(usage)),
  })
}

function strings(usages: unknown): readonly string[] {
  const list = [...(usages as Iterable<unknown>)].map((usage) => `${usage as string}`)
  const unknown = list.find((usage) => !USAGES.includes(usage) && !hasOwn(NOT_HERE, usage))
  if (unknown !== undefined) throw new TypeError(`"${unknown}" is not a key usage.`)
  return list
}

function hmacHash(algorithm: unknown): HashName {
  if (algorithmName(algorithm) !== 'HMAC') refuse(algorithm)
  const hash: unknown = isWebIdlObject(algorithm) ? Reflect.get(algorithm, 'hash') : undefined
  if (hash === undefined) throw new TypeError("HMAC: 'hash' is required.")
  return hashName(hash)
}

function lengthOf(algorithm: unknown): number | undefined {
  const length: unknown = isWebIdlObject(algorithm) ? Reflect.get(algorithm, 'length') : undefined
  return length === undefined ? undefined : Number(length)
}

function refuse(algorithm: unknown): never {
  throw new DOMException(
    `"${algorithmName(algorithm)}" is not available here: there are SHA-1, SHA-256, SHA-384, SHA-512 and HMAC.`,
    'NotSupportedError',
  )
}

/** A copy, so that what a caller changes later has no effect. */
function bytesOf(data: unknown): Uint8Array<ArrayBuffer> {
  const bytes = shownBytes(data)
  if (bytes === undefined) throw new TypeError('The data must be an ArrayBuffer or a view on one.')
  return new Uint8Array(bytes)
}

/** In constant time for signatures of the same length. */
function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false
  let difference = 0
  for (let index = 0; index < left.length; index++)
    difference |= (left[index] ?? 0) ^ (right[index] ?? 0)
  return difference === 0
}
