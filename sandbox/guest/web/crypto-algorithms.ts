import type { KeyMaterial } from './crypto-key.ts'
import { materialOf } from './crypto-key.ts'
import {
  type Bytes,
  bytesOfBigInteger,
  copiedBytes,
  enforcedInteger,
  notSupported,
} from './crypto-values.ts'
import { create, findIndex, objectKeys, toUpperCase, TypeErrorClass } from './primordials.ts'
import { isWebIdlObject } from './webidl.ts'

/** An algorithm as it was asked for: its name as the standard writes it, and the members that its dictionary has. */
export interface Algorithm {
  readonly name: string
  readonly additionalData?: Bytes
  readonly context?: Bytes
  readonly counter?: Bytes
  readonly hash?: string
  readonly info?: Bytes
  readonly iterations?: number
  readonly iv?: Bytes
  readonly label?: Bytes
  readonly length?: number
  readonly modulusLength?: number
  readonly namedCurve?: string
  readonly public?: KeyMaterial
  readonly publicExponent?: Bytes
  readonly salt?: Bytes
  readonly saltLength?: number
  readonly tagLength?: number
}

export type AlgorithmUse =
  | 'cipher'
  | 'deriveBits'
  | 'digest'
  | 'generateKey'
  | 'importKey'
  | 'keyLength'
  | 'sign'
  | 'wrapKey'

type Convert = (value: unknown, what: string) => unknown
type Member = readonly [name: string, convert: Convert, required: boolean]
type Names = Readonly<Record<string, readonly Member[]>>

const octet: Convert = (value, what) => enforcedInteger(value, 0xff, what)
const unsignedShort: Convert = (value, what) => enforcedInteger(value, 0xffff, what)
const unsignedLong: Convert = (value, what) => enforcedInteger(value, 0xffffffff, what)
const text: Convert = (value) => `${value as string}`
const hashName: Convert = (value) => normalized(value, 'digest').name
const otherKey: Convert = (value, what) => {
  const material = materialOf(value)
  if (!material) throw new TypeErrorClass(`${what} is not a CryptoKey.`)
  return material
}

const HASH: Member = ['hash', hashName, true]
const KEY_LENGTH: Member = ['length', unsignedShort, true]
const CURVE: readonly Member[] = [['namedCurve', text, true]]
const MAC: readonly Member[] = [HASH, ['length', unsignedLong, false]]
const RSA_KEY: readonly Member[] = [
  ['modulusLength', unsignedLong, true],
  ['publicExponent', bytesOfBigInteger, true],
  HASH,
]
const OTHER_KEY: readonly Member[] = [['public', otherKey, true]]
const NONE: readonly Member[] = []

const AES_LENGTHS: Names = {
  'AES-CBC': [KEY_LENGTH],
  'AES-CTR': [KEY_LENGTH],
  'AES-GCM': [KEY_LENGTH],
  'AES-KW': [KEY_LENGTH],
}
const CURVES: Names = {
  ECDSA: CURVE,
  ECDH: CURVE,
  Ed25519: NONE,
  Ed448: NONE,
  X25519: NONE,
  X448: NONE,
}

/** https://w3c.github.io/webcrypto/#algorithm-overview, with the members of each dictionary in the order in which they are read. */
const ALGORITHMS: Readonly<Record<AlgorithmUse, Names>> = {
  digest: { 'SHA-1': NONE, 'SHA-256': NONE, 'SHA-384': NONE, 'SHA-512': NONE },
  cipher: {
    'RSA-OAEP': [['label', copiedBytes, false]],
    'AES-CBC': [['iv', copiedBytes, true]],
    'AES-CTR': [
      ['counter', copiedBytes, true],
      ['length', octet, true],
    ],
    'AES-GCM': [
      ['additionalData', copiedBytes, false],
      ['iv', copiedBytes, true],
      ['tagLength', octet, false],
    ],
  },
  wrapKey: { 'AES-KW': NONE },
  sign: {
    'RSASSA-PKCS1-v1_5': NONE,
    'RSA-PSS': [['saltLength', unsignedLong, true]],
    ECDSA: [HASH],
    Ed25519: NONE,
    Ed448: [['context', copiedBytes, false]],
    HMAC: NONE,
  },
  generateKey: {
    'RSASSA-PKCS1-v1_5': RSA_KEY,
    'RSA-PSS': RSA_KEY,
    'RSA-OAEP': RSA_KEY,
    ...CURVES,
    ...AES_LENGTHS,
    HMAC: MAC,
  },
  importKey: {
    'RSASSA-PKCS1-v1_5': [HASH],
    'RSA-PSS': [HASH],
    'RSA-OAEP': [HASH],
    ...CURVES,
    'AES-CBC': NONE,
    'AES-CTR': NONE,
    'AES-GCM': NONE,
    'AES-KW': NONE,
    HMAC: MAC,
    HKDF: NONE,
    PBKDF2: NONE,
  },
  deriveBits: {
    ECDH: OTHER_KEY,
    X25519: OTHER_KEY,
    X448: OTHER_KEY,
    HKDF: [HASH, ['info', copiedBytes, true], ['salt', copiedBytes, true]],
    PBKDF2: [HASH, ['iterations', unsignedLong, true], ['salt', copiedBytes, true]],
  },
  keyLength: { ...AES_LENGTHS, HMAC: MAC, HKDF: NONE, PBKDF2: NONE },
}

/** https://w3c.github.io/webcrypto/#algorithm-normalization */
export function normalized(identifier: unknown, use: AlgorithmUse): Algorithm {
  const given = isWebIdlObject(identifier) ? (identifier as Record<string, unknown>) : undefined
  const named: unknown = given ? given['name'] : identifier
  if (given && named === undefined) throw new TypeErrorClass("Algorithm: 'name' is required.")
  const name = `${named as string}`
  const known = knownName(name, use)
  if (known === undefined)
    throw notSupported(`The algorithm "${name}" is not supported here, or not for this operation`)
  const algorithm = create(null) as Record<string, unknown>
  algorithm['name'] = known
  const members = ALGORITHMS[use][known] ?? NONE
  for (let at = 0; at < members.length; at += 1) readMember(algorithm, given, members[at] as Member)
  return algorithm as unknown as Algorithm
}

/** The standard's spelling of a name that is used so; capitals do not matter. */
function knownName(name: string, use: AlgorithmUse): string | undefined {
  const names = objectKeys(ALGORITHMS[use])
  const wanted = toUpperCase(name)
  return names[findIndex(names, (known) => toUpperCase(known) === wanted)]
}

/** What wraps a key: an algorithm for that alone, or one that encrypts. */
export function wrapAlgorithm(identifier: unknown): Algorithm {
  const named: unknown = isWebIdlObject(identifier)
    ? (identifier as Record<string, unknown>)['name']
    : identifier
  return normalized(
    identifier,
    knownName(`${named as string}`, 'wrapKey') === undefined ? 'cipher' : 'wrapKey',
  )
}

function readMember(
  algorithm: Record<string, unknown>,
  given: Readonly<Record<string, unknown>> | undefined,
  member: Member,
): void {
  const name = member[0]
  const convert = member[1]
  const value = given?.[name]
  const what = `${algorithm['name'] as string}: '${name}'`
  if (value !== undefined) algorithm[name] = convert(value, what)
  else if (member[2]) throw new TypeErrorClass(`${what} is required.`)
}
