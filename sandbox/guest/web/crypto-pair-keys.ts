import { MAX_RSA_BITS, MIN_RSA_BITS } from '#sandbox/crypto/limits.ts'

import type { Algorithm } from './crypto-algorithms.ts'
import { bytesOfBase64, hostJson, hostText, longText } from './crypto-host.ts'
import { checkJwk, type Jwk, writtenJwk } from './crypto-jwk.ts'
import type { KeyAlgorithm, KeyMaterial, KeyUsage } from './crypto-key.ts'
import { type KeySource, type KeyWish, noUsages, requireUsages } from './crypto-secret-keys.ts'
import {
  type Bytes,
  dataError,
  invalidAccess,
  type KeyFormat,
  notSupported,
  operationFailed,
  sharedUsages,
} from './crypto-values.ts'
import { join, slice, split, startsWith, subarray, Uint8ArrayClass } from './primordials.ts'

interface PairUsages {
  readonly all: readonly KeyUsage[]
  readonly public: readonly KeyUsage[]
  readonly private: readonly KeyUsage[]
  readonly use: 'enc' | 'sig'
}

export interface KeyPairMaterial {
  readonly publicKey: KeyMaterial
  readonly privateKey: KeyMaterial
}

const SIGNS: PairUsages = {
  all: ['sign', 'verify'],
  public: ['verify'],
  private: ['sign'],
  use: 'sig',
}
const AGREES: PairUsages = {
  all: ['deriveKey', 'deriveBits'],
  public: [],
  private: ['deriveKey', 'deriveBits'],
  use: 'enc',
}
const PAIRS: Readonly<Record<string, PairUsages>> = {
  'RSASSA-PKCS1-v1_5': SIGNS,
  'RSA-PSS': SIGNS,
  'RSA-OAEP': {
    all: ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'],
    public: ['encrypt', 'wrapKey'],
    private: ['decrypt', 'unwrapKey'],
    use: 'enc',
  },
  ECDSA: SIGNS,
  ECDH: AGREES,
  Ed25519: SIGNS,
  Ed448: SIGNS,
  X25519: AGREES,
  X448: AGREES,
}
/** Bytes of a point that is not compressed, at the end of its SubjectPublicKeyInfo. */
const POINT_BYTES: Readonly<Record<string, number>> = { 'P-256': 65, 'P-384': 97, 'P-521': 133 }
const OKP_BYTES: Readonly<Record<string, number>> = { Ed25519: 32, Ed448: 57, X25519: 32, X448: 56 }
const CURVE_ALGORITHMS: Readonly<Record<string, string>> = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
}
const MAX_EXPONENT_BYTES = 4

export async function generatePair(wish: KeyWish): Promise<KeyPairMaterial> {
  const { algorithm, usages } = wish
  const { name } = algorithm
  const allowed = PAIRS[name] ?? AGREES
  requireUsages(usages, allowed.all, name)
  const rsa = isRsa(name) ? rsaFields(algorithm) : undefined
  const kind = kindOf(algorithm)
  if (sharedUsages(usages, allowed.private).length === 0) throw noUsages()
  const made = hostJson(
    rsa ? await longText(rsa) : hostText('generate', { __proto__: null, kind }, []),
  )
  const { modulusLength, publicExponent } = algorithm
  const shown = shownAlgorithm(algorithm, modulusLength, publicExponent)
  return {
    publicKey: {
      type: 'public',
      algorithm: shown,
      extractable: true,
      usages: sharedUsages(usages, allowed.public),
      bytes: bytesOfBase64(made['publicKey']),
    },
    privateKey: {
      type: 'private',
      algorithm: shown,
      extractable: wish.extractable,
      usages: sharedUsages(usages, allowed.private),
      bytes: bytesOfBase64(made['privateKey']),
    },
  }
}

export function importPair(wish: KeyWish, source: KeySource): KeyMaterial {
  const { algorithm, extractable, usages } = wish
  const { name } = algorithm
  if (source.format === 'raw' && isRsa(name))
    throw notSupported(`Key format "raw" is not supported for ${name}.`)
  const kind = kindOf(algorithm)
  const type = isPrivate(source) ? 'private' : 'public'
  requireUsages(usages, PAIRS[name]?.[type] ?? [], name)
  const read =
    source.format === 'jwk' ? readFromJwk(source.jwk, wish, kind) : readBytes(source, kind)
  if (type === 'private' && usages.length === 0) throw noUsages()
  const exponent = read['publicExponent']
  const shown = shownAlgorithm(
    algorithm,
    read['modulusLength'] as number | undefined,
    exponent === undefined ? undefined : bytesOfBase64(standard(exponent)),
  )
  return { type, algorithm: shown, extractable, usages, bytes: bytesOfBase64(read['der']) }
}

type Read = Readonly<Record<string, unknown>>

function readFromJwk(jwk: Jwk, wish: KeyWish, kind: string): Read {
  checkPairJwk(jwk, wish, kind)
  return hostJson(hostText('readKey', { __proto__: null, kind, format: 'jwk', jwk: jwk.texts }, []))
}

const readBytes = ({ format, bytes }: Exclude<KeySource, { format: 'jwk' }>, kind: string): Read =>
  hostJson(hostText('readKey', { __proto__: null, kind, format }, [bytes]))

export function exportPair(material: KeyMaterial, format: KeyFormat): Bytes | object {
  const { type, algorithm, bytes } = material
  if (format === 'jwk') {
    const operation = type === 'private' ? 'jwkOfPrivate' : 'jwkOfPublic'
    const members = hostJson(hostText(operation, { __proto__: null }, [bytes]))
    return writtenJwk(material, members, writtenName(algorithm))
  }
  if (format === 'raw' && isRsa(algorithm.name))
    throw notSupported(`Key format "raw" is not supported for ${algorithm.name}.`)
  if ((format === 'pkcs8') !== (type === 'private'))
    throw invalidAccess(`A ${type} key cannot be exported as "${format}".`)
  if (format !== 'raw') return bytes
  const size = POINT_BYTES[algorithm.namedCurve ?? ''] ?? OKP_BYTES[algorithm.name] ?? 0
  return subarray(bytes, bytes.length - size)
}

const isRsa = (name: string): boolean => startsWith(name, 'RSA')

const isPrivate = (source: KeySource): boolean =>
  source.format === 'pkcs8' || (source.format === 'jwk' && source.jwk.texts['d'] !== undefined)

/** What the host calls the kind of key. */
function kindOf({ name, namedCurve }: Algorithm): string {
  if (isRsa(name)) return 'RSA'
  if (OKP_BYTES[name] !== undefined) return name
  if (namedCurve === undefined || POINT_BYTES[namedCurve] === undefined)
    throw notSupported(`The curve "${namedCurve ?? ''}" is not supported here.`)
  return namedCurve
}

function shownAlgorithm(
  { name, hash, namedCurve }: Algorithm,
  modulusLength: number | undefined,
  publicExponent: Bytes | undefined,
): KeyAlgorithm {
  if (isRsa(name) && modulusLength !== undefined && publicExponent && hash !== undefined)
    return { name, modulusLength, publicExponent, hash }
  return namedCurve === undefined ? { name } : { name, namedCurve }
}

function rsaFields(algorithm: Algorithm): object {
  const { modulusLength = 0 } = algorithm
  const publicExponent = exponentOf(algorithm)
  if (modulusLength < MIN_RSA_BITS || modulusLength > MAX_RSA_BITS)
    throw operationFailed(`An RSA key must have ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits.`)
  return { __proto__: null, operation: 'generateRsa', modulusLength, publicExponent }
}

/** A number: longer ones are of no use, and make every operation slow. */
function exponentOf({ publicExponent }: Algorithm): number {
  const bytes = publicExponent ?? new Uint8ArrayClass(0)
  let exponent = 0
  let digits = 0
  for (let at = 0; at < bytes.length; at += 1) {
    exponent = exponent * 256 + (bytes[at] ?? 0)
    if (exponent > 0) digits += 1
    if (digits > MAX_EXPONENT_BYTES) break
  }
  if (digits > MAX_EXPONENT_BYTES || exponent < 3 || exponent % 2 === 0)
    throw operationFailed('The public exponent must be odd, at least 3 and at most 4 bytes long.')
  return exponent
}

function checkPairJwk(jwk: Jwk, { algorithm, ...wish }: KeyWish, kind: string): void {
  const { name, namedCurve, hash } = algorithm
  const kty = isRsa(name) ? 'RSA' : namedCurve === undefined ? 'OKP' : 'EC'
  const { use } = PAIRS[name] ?? SIGNS
  checkJwk(jwk, { kty, use, alg: readNames(name, namedCurve, hash), ...wish })
  const { crv } = jwk.texts
  if (kty !== 'RSA' && crv !== kind)
    throw dataError(`The JSON Web Key cannot be imported: its "crv" must be "${kind}".`)
}

/** What "alg" may say: RFC 7518 §3.1 and §4.1, RFC 8037. */
function readNames(name: string, curve = '', hash = ''): readonly string[] | undefined {
  if (name === 'ECDSA') return [CURVE_ALGORITHMS[curve] ?? '']
  if (name === 'Ed25519' || name === 'Ed448') return [name, 'EdDSA']
  return isRsa(name) ? [rsaName(name, hash)] : undefined
}

/** What "alg" says in an exported key. */
function writtenName({ name, hash = '' }: KeyAlgorithm): string | undefined {
  if (name === 'Ed25519' || name === 'Ed448') return name
  return isRsa(name) ? rsaName(name, hash) : undefined
}

function rsaName(name: string, hash: string): string {
  const bits = slice(hash, 4)
  if (name === 'RSA-OAEP') return bits === '1' ? name : `${name}-${bits}`
  return `${name === 'RSA-PSS' ? 'PS' : 'RS'}${bits}`
}

const standard = (text: unknown): string =>
  join(split(join(split(`${text as string}`, '-'), '+'), '_'), '/')
