import { CryptoFailure } from './crypto-failure.ts'
import { MAX_KEY_BYTES } from './limits.ts'

/** What kinds of keys there are; a curve is one, so that nothing else can be in its place. */
export const KEY_KINDS = [
  'RSA',
  'P-256',
  'P-384',
  'P-521',
  'Ed25519',
  'Ed448',
  'X25519',
  'X448',
] as const
export type KeyKind = (typeof KEY_KINDS)[number]

/** As OpenSSL calls them. */
export const OPENSSL_CURVES = { 'P-256': 'prime256v1', 'P-384': 'secp384r1', 'P-521': 'secp521r1' }

const EC = '06072a8648ce3d0201'
/** The contents of the AlgorithmIdentifier, in hex. RFC 5280, 5480, 8410. */
const IDENTIFIERS: Readonly<Record<KeyKind, readonly string[]>> = {
  RSA: ['06092a864886f70d0101010500'],
  'P-256': [`${EC}06082a8648ce3d030107`],
  'P-384': [`${EC}06052b81040022`],
  'P-521': [`${EC}06052b81040023`],
  Ed25519: ['06032b6570'],
  Ed448: ['06032b6571'],
  X25519: ['06032b656e'],
  X448: ['06032b656f'],
}
const SEQUENCE = 0x30
const INTEGER = 0x02

export const isCurve = (kind: KeyKind): kind is keyof typeof OPENSSL_CURVES =>
  Object.hasOwn(OPENSSL_CURVES, kind)

/**
 * Makes sure that a key in DER says that it is of this kind, before OpenSSL sees it: so its decoders of curves given by
 * their parameters, of DSA, of encrypted keys are never reached by a site.
 */
export function requireKind(der: Uint8Array, form: 'spki' | 'pkcs8', kind: KeyKind): void {
  if (der.length > MAX_KEY_BYTES)
    throw new CryptoFailure('DataError', `A key may be ${MAX_KEY_BYTES} bytes long`)
  if (!IDENTIFIERS[kind].includes(identifierOf(der, form) ?? '')) throw notOfKind(kind)
}

/** The contents of a key's AlgorithmIdentifier in hex; undefined when it is no key. */
function identifierOf(der: Uint8Array, form: 'spki' | 'pkcs8'): string | undefined {
  const whole = element(der, 0, SEQUENCE)
  if (whole?.to !== der.length) return undefined
  const before = form === 'pkcs8' ? element(der, whole.from, INTEGER)?.to : whole.from
  const inner = before === undefined ? undefined : element(der, before, SEQUENCE)
  return inner && Buffer.from(der.subarray(inner.from, inner.to)).toString('hex')
}

/** Where the content of a DER element is; undefined when it has another tag or does not fit. */
function element(
  der: Uint8Array,
  at: number,
  tag: number,
): { readonly from: number; readonly to: number } | undefined {
  const [first = 0x80, ...next] = der.subarray(at + 1, at + 4)
  const more = Math.max(0, first - 0x80)
  if (der[at] !== tag || first === 0x80 || more > 2) return undefined
  const digits = more === 0 ? [first] : next.slice(0, more)
  const length = digits.reduce((sum, digit) => sum * 256 + digit, 0)
  const from = at + 2 + more
  return from + length > der.length ? undefined : { from, to: from + length }
}

const notOfKind = (kind: KeyKind): CryptoFailure =>
  new CryptoFailure('DataError', `The key data is not a ${kind} key of that format`)
