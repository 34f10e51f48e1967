import type { Algorithm } from './crypto-algorithms.ts'
import { hostBytes } from './crypto-host.ts'
import { bytesOfJwk, checkJwk, encodeBase64Url, type Jwk, writtenJwk } from './crypto-jwk.ts'
import type { KeyAlgorithm, KeyMaterial, KeyUsage } from './crypto-key.ts'
import {
  type Bytes,
  dataError,
  has,
  type KeyFormat,
  notSupported,
  operationFailed,
  badSyntax,
} from './crypto-values.ts'
import { host } from './host.ts'
import { floor, slice, startsWith, TypeErrorClass } from './primordials.ts'

/** How a key is to be made. */
export interface KeyWish {
  readonly algorithm: Algorithm
  readonly extractable: boolean
  readonly usages: readonly KeyUsage[]
}

/** What a key is read from. */
export type KeySource =
  | { readonly format: 'jwk'; readonly jwk: Jwk }
  | { readonly format: Exclude<KeyFormat, 'jwk'>; readonly bytes: Bytes }

/** Bits in a block of the hash: how long an HMAC key is if nothing else is said. */
const BLOCK_BITS: Readonly<Record<string, number>> = {
  'SHA-1': 512,
  'SHA-256': 512,
  'SHA-384': 1024,
  'SHA-512': 1024,
}
const MAX_GENERATED_BITS = 65_536 * 8
const CIPHER: readonly KeyUsage[] = ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey']
const SECRET_USAGES: Readonly<Record<string, readonly KeyUsage[]>> = {
  'AES-CBC': CIPHER,
  'AES-CTR': CIPHER,
  'AES-GCM': CIPHER,
  'AES-KW': ['wrapKey', 'unwrapKey'],
  HKDF: ['deriveKey', 'deriveBits'],
  HMAC: ['sign', 'verify'],
  PBKDF2: ['deriveKey', 'deriveBits'],
}

export const isSecret = ({ name }: { readonly name: string }): boolean =>
  SECRET_USAGES[name] !== undefined

export function generateSecret(wish: KeyWish): KeyMaterial {
  const { algorithm, usages } = wish
  requireUsages(usages, SECRET_USAGES[algorithm.name] ?? [], algorithm.name)
  const length = isAes(algorithm.name) ? aesLength(algorithm.length) : macLength(algorithm)
  if (length === 0 || length % 8 !== 0 || length > MAX_GENERATED_BITS)
    throw operationFailed('The key length must be a multiple of 8 bits, and not 0.')
  if (usages.length === 0) throw noUsages()
  return secretOf(wish, length, host.random(length / 8))
}

export function importSecret(wish: KeyWish, source: KeySource): KeyMaterial {
  const { algorithm, usages } = wish
  const { name } = algorithm
  if (source.format !== 'raw' && (source.format !== 'jwk' || isDerivable(name)))
    throw notSupported(`Key format "${source.format}" is not supported for ${name}.`)
  requireUsages(usages, SECRET_USAGES[name] ?? [], name)
  if (isDerivable(name) && wish.extractable)
    throw badSyntax(`A ${name} key must not be extractable.`)
  const bytes = source.format === 'jwk' ? bytesOfJwk(source.jwk, 'k') : source.bytes
  const length = importedLength(algorithm, bytes)
  if (source.format === 'jwk') checkSecretJwk(source.jwk, wish, bytes.length * 8)
  if (usages.length === 0) throw noUsages()
  return secretOf(wish, length, bytes)
}

export function exportSecret(material: KeyMaterial, format: KeyFormat): Bytes | object {
  if (format === 'raw') return material.bytes
  if (format !== 'jwk')
    throw notSupported(`Key format "${format}" is not supported for ${material.algorithm.name}.`)
  const members = { kty: 'oct', k: encodeBase64Url(material.bytes) }
  return writtenJwk(material, members, jwkAlgorithm(material.algorithm))
}

/** In bits, of a key that is derived; null where any length will do. */
export function derivedLength(algorithm: Algorithm): number | null {
  if (isAes(algorithm.name)) return aesLength(algorithm.length)
  if (algorithm.name !== 'HMAC') return null
  if (algorithm.length === 0) throw new TypeErrorClass('HMAC: the length must not be 0.')
  return macLength(algorithm)
}

export const mac = (material: KeyMaterial, data: Bytes): Bytes =>
  hostBytes('hmac', { __proto__: null, hash: material.algorithm.hash }, [material.bytes, data])

export function requireUsages(
  usages: readonly KeyUsage[],
  allowed: readonly KeyUsage[],
  name: string,
): void {
  for (let at = 0; at < usages.length; at += 1)
    if (!has(allowed, usages[at] as KeyUsage))
      throw badSyntax(`A ${name} key of this type cannot be used to ${usages[at] as string}.`)
}

export const noUsages = () => badSyntax('Usages cannot be empty when creating a key.')

function secretOf(
  { algorithm, extractable, usages }: KeyWish,
  length: number,
  bytes: Bytes,
): KeyMaterial {
  const { name, hash } = algorithm
  const shown: KeyAlgorithm =
    name === 'HMAC' ? { name, hash: hash ?? '', length } : isAes(name) ? { name, length } : { name }
  return { type: 'secret', algorithm: shown, extractable, usages, bytes }
}

function checkSecretJwk(jwk: Jwk, { algorithm, ...wish }: KeyWish, length: number): void {
  const { name, hash } = algorithm
  const alg = jwkAlgorithm({ name, length, ...(hash === undefined ? {} : { hash }) })
  const use = name === 'HMAC' ? 'sig' : 'enc'
  checkJwk(jwk, { kty: 'oct', use, alg: alg === undefined ? undefined : [alg], ...wish })
}

/** RFC 7518 §3.1 and the names that WebCrypto adds: HS256, A128GCM. */
function jwkAlgorithm({ name, length = 0, hash = '' }: KeyAlgorithm): string | undefined {
  if (name === 'HMAC') return `HS${slice(hash, 4)}`
  return isAes(name) ? `A${length}${slice(name, 4)}` : undefined
}

function importedLength(algorithm: Algorithm, bytes: Bytes): number {
  const bits = bytes.length * 8
  if (algorithm.name === 'HMAC') return importedMacLength(algorithm, bits)
  if (isAes(algorithm.name) && !isAesLength(bits))
    throw dataError('An AES key has 128, 192 or 256 bits.')
  return bits
}

function importedMacLength({ length }: Algorithm, bits: number): number {
  if (bits === 0) throw dataError('Zero-length key is not supported')
  if (length === undefined) return bits
  if (length > bits || length <= bits - 8) throw dataError('Invalid key length')
  return length
}

const isDerivable = (name: string): boolean => name === 'HKDF' || name === 'PBKDF2'
const isAes = (name: string): boolean => startsWith(name, 'AES-')
const isAesLength = (bits: number): boolean => bits === 128 || bits === 192 || bits === 256

function aesLength(length: number | undefined): number {
  if (length === undefined || !isAesLength(length))
    throw operationFailed('An AES key has 128, 192 or 256 bits.')
  return floor(length)
}

const macLength = ({ length, hash = '' }: Algorithm): number => length ?? BLOCK_BITS[hash] ?? 0
