import {
  createECDH,
  createPrivateKey,
  createPublicKey,
  ECDH,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto'

import { CryptoFailure, orFail } from './crypto-failure.ts'
import type { CryptoFields } from './crypto-fields.ts'
import { isCurve, KEY_KINDS, type KeyKind, OPENSSL_CURVES, requireKind } from './key-kinds.ts'
import { MAX_KEY_BYTES, MAX_RSA_BITS, MIN_RSA_BITS } from './limits.ts'

type JwkTexts = Readonly<Record<string, string>>

/** The prefix of a public key in SubjectPublicKeyInfo, and the length of the key that follows: RFC 8410 §4. */
const OKP = {
  Ed25519: { prefix: '302a300506032b6570032100', size: 32 },
  Ed448: { prefix: '3043300506032b6571033a00', size: 57 },
  X25519: { prefix: '302a300506032b656e032100', size: 32 },
  X448: { prefix: '3042300506032b656f033900', size: 56 },
} as const
const PRIVATE_PARTS = ['d', 'p', 'q', 'dp', 'dq', 'qi'] as const

/** Reads a key of any format, checks that it is whole, and gives it in the one form in which the isolate keeps it. */
export function readKey(fields: CryptoFields, data: Uint8Array): string {
  const kind = fields.oneOf('kind', KEY_KINDS)
  const format = fields.oneOf('format', ['jwk', 'pkcs8', 'raw', 'spki'])
  return orFail('DataError', `The key data is not a valid ${kind} key`, () => {
    if (format === 'jwk') return writtenKey(kind, keyOfJwk(kind, fields.texts('jwk')))
    if (format === 'raw') return writtenKey(kind, keyOfRaw(kind, Buffer.from(data)))
    requireKind(data, format, kind)
    const read = format === 'spki' ? createPublicKey : createPrivateKey
    return writtenKey(kind, read({ key: Buffer.from(data), format: 'der', type: format as never }))
  })
}

/** The members of a key's JSON Web Key that say what it is. */
export const jwkOf = (key: KeyObject): string => JSON.stringify(key.export({ format: 'jwk' }))

/** Private keys as PKCS #8, public ones as SubjectPublicKeyInfo. */
export const derOf = (key: KeyObject): Buffer =>
  key.type === 'private'
    ? key.export({ format: 'der', type: 'pkcs8' })
    : key.export({ format: 'der', type: 'spki' })

function writtenKey(kind: KeyKind, key: KeyObject): string {
  const jwk = key.export({ format: 'jwk' })
  if (isCurve(kind)) requirePoint(kind, key, jwk)
  // Of a JSON Web Key, so that a point that came compressed is written whole.
  const whole =
    isCurve(kind) && key.type === 'public' ? createPublicKey({ key: jwk, format: 'jwk' }) : key
  const written = { type: key.type, der: derOf(whole).toString('base64') }
  if (kind !== 'RSA') return JSON.stringify(written)
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  requireReasonable(modulusLength, jwk)
  return JSON.stringify({ ...written, modulusLength, publicExponent: jwk.e })
}

function keyOfRaw(kind: KeyKind, data: Buffer): KeyObject {
  if (isCurve(kind)) {
    const point = ECDH.convertKey(data, OPENSSL_CURVES[kind], undefined, undefined, 'uncompressed')
    return createPublicKey({ key: jwkOfPoint(kind, point as Buffer), format: 'jwk' })
  }
  if (kind === 'RSA' || data.length !== OKP[kind].size)
    throw new CryptoFailure('DataError', 'Invalid key length')
  const der = Buffer.concat([Buffer.from(OKP[kind].prefix, 'hex'), data])
  return createPublicKey({ key: der, format: 'der', type: 'spki' })
}

function keyOfJwk(kind: KeyKind, jwk: JwkTexts): KeyObject {
  for (const member of Object.values(jwk))
    if (member.length > MAX_KEY_BYTES) throw new CryptoFailure('DataError', 'A member is too long')
  if (kind !== 'RSA' && jwk['crv'] !== kind)
    throw new CryptoFailure('DataError', `The curve is not ${kind}`)
  if (jwk['d'] === undefined) return createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
  const key = createPrivateKey({ key: jwk as JsonWebKey, format: 'jwk' })
  if (!Object.hasOwn(OKP, kind)) return key
  const { d: _, ...stated } = jwk
  const computed = createPublicKey(key as unknown as string)
  if (!computed.equals(createPublicKey({ key: stated as JsonWebKey, format: 'jwk' })))
    throw new CryptoFailure('DataError', 'The private key does not belong to the public key')
  return key
}

/** A key states its point beside its secret: it is computed, not believed. */
function requirePoint(kind: keyof typeof OPENSSL_CURVES, key: KeyObject, jwk: JsonWebKey): void {
  if (key.asymmetricKeyDetails?.namedCurve !== OPENSSL_CURVES[kind])
    throw new CryptoFailure('DataError', `The curve is not ${kind}`)
  if (key.type === 'public') return
  const ecdh = createECDH(OPENSSL_CURVES[kind])
  ecdh.setPrivateKey(Buffer.from(jwk.d ?? '', 'base64url'))
  const { x, y } = jwkOfPoint(kind, ecdh.getPublicKey())
  if (x !== jwk.x || y !== jwk.y)
    throw new CryptoFailure('DataError', 'The private key does not belong to the public key')
}

function jwkOfPoint(crv: string, point: Buffer): JsonWebKey {
  const half = (point.length - 1) / 2
  const x = point.subarray(1, 1 + half).toString('base64url')
  const y = point.subarray(1 + half).toString('base64url')
  return { kty: 'EC', crv, x, y }
}

/** What one operation with a key costs grows with the cube of its length, and so with that of each part. */
function requireReasonable(modulusLength: number, jwk: JsonWebKey): void {
  if (modulusLength < MIN_RSA_BITS || modulusLength > MAX_RSA_BITS)
    throw new CryptoFailure(
      'DataError',
      `An RSA key must have ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits`,
    )
  const longest = (jwk.n ?? '').length
  if (PRIVATE_PARTS.some((part) => (jwk[part] ?? '').length > longest))
    throw new CryptoFailure('DataError', 'A part of the RSA key is longer than its modulus')
}
