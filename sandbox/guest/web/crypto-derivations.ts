import { encodeBase64 } from './base64.ts'
import type { Algorithm } from './crypto-algorithms.ts'
import { bytesOfBase64, hostBytes, longText, quickBytes } from './crypto-host.ts'
import type { KeyMaterial } from './crypto-key.ts'
import { type Bytes, copiedBytes, invalidAccess, operationFailed } from './crypto-values.ts'
import { ceil, subarray, Uint8ArrayClass } from './primordials.ts'

/** `length` is in bits; null is all that there is. */
export async function derivedBits(
  algorithm: Algorithm,
  key: KeyMaterial,
  length: number | null,
): Promise<Bytes> {
  if (algorithm.public) return agreedBits(algorithm.public, key, length)
  if (length === null || length % 8 !== 0)
    throw operationFailed('The length must be a multiple of 8 bits.')
  const { name, hash, info = none(), iterations, salt = none() } = algorithm
  const fields = { __proto__: null, hash, iterations, length: length / 8 }
  if (name === 'HKDF') return hostBytes('hkdf', fields, [key.bytes, salt, info])
  if (iterations === 0) throw operationFailed('The iterations must not be 0.')
  if (length === 0) return none()
  const quick = quickBytes('pbkdf2', fields, [key.bytes, salt])
  if (quick) return quick
  const password = encodeBase64(key.bytes)
  const asked = { __proto__: null, operation: 'pbkdf2', password, salt: encodeBase64(salt) }
  return bytesOfBase64(await longText({ ...fields, ...asked, __proto__: null }))
}

function agreedBits(other: KeyMaterial, key: KeyMaterial, length: number | null): Bytes {
  if (key.type !== 'private') throw invalidAccess('The base key must be a private key.')
  if (other.type !== 'public') throw invalidAccess("The algorithm's key must be a public key.")
  if (
    other.algorithm.name !== key.algorithm.name ||
    other.algorithm.namedCurve !== key.algorithm.namedCurve
  )
    throw invalidAccess('The keys are not of the same algorithm and curve.')
  const secret = hostBytes('agree', { __proto__: null }, [key.bytes, other.bytes])
  if (length === null) return secret
  if (length > secret.length * 8)
    throw operationFailed('Invalid length: that many bits cannot be derived.')
  const bits = copiedBytes(subarray(secret, 0, ceil(length / 8)), '')
  const left = length % 8
  if (left > 0) bits[bits.length - 1] = (bits[bits.length - 1] ?? 0) & (0xff << (8 - left))
  return bits
}

const none = (): Bytes => new Uint8ArrayClass(0)
