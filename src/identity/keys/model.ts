import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** Lifetime of access and id tokens. */
export const TOKEN_LIFETIME_SECONDS = 3600

/**
 * How long a retired key stays published: until the last token it signed has ended, and ten minutes more for a replica that
 * learns of the rotation late.
 */
export const RETIRED_KEY_SECONDS = TOKEN_LIFETIME_SECONDS + 600

/** Keys of one pool that may be published at once. */
export const MAX_KEYS = 16

export const PublicJwk = Type.Object({
  kty: Type.Literal('RSA'),
  n: Type.String(),
  e: Type.String(),
})
export type PublicJwk = Static<typeof PublicJwk>

export const JwksDocument = Type.Object({
  keys: Type.Array(
    Type.Object({
      kty: Type.Literal('RSA'),
      use: Type.Literal('sig'),
      alg: Type.Literal('RS256'),
      kid: Type.String(),
      n: Type.String(),
      e: Type.String(),
    }),
  ),
})
export type JwksDocument = Static<typeof JwksDocument>

/** A key that verifies tokens of its pool. */
export interface VerificationKey {
  readonly kid: string
  readonly publicJwk: PublicJwk
  readonly key: CryptoKey
  /** The one key of the pool that signs. */
  readonly signs: boolean
  /** Infinity while it signs. */
  readonly expiresAtMs: number
}

export const parsePublicJwk = (stored: unknown): PublicJwk => Value.Parse(PublicJwk, stored)

export const isPublished = (key: VerificationKey, nowMs: number): boolean => nowMs < key.expiresAtMs

/** The public keys of a pool as RFC 7517 wants them, without those whose last token has ended. */
export function jwksOf(keys: Iterable<VerificationKey>, nowMs: number): JwksDocument {
  const published = [...keys].filter((key) => isPublished(key, nowMs))
  return {
    keys: published.map(({ kid, publicJwk }) => ({
      ...publicJwk,
      use: 'sig' as const,
      alg: 'RS256' as const,
      kid,
    })),
  }
}

export const importVerificationKey = (jwk: PublicJwk): Promise<CryptoKey> =>
  crypto.subtle.importKey('jwk', { ...jwk, alg: 'RS256' }, RS256, false, ['verify'])

/** Not extractable: once imported, the private half cannot be read back out of the process's own objects. */
export const importSigningKey = (pkcs8: Uint8Array): Promise<CryptoKey> =>
  crypto.subtle.importKey('pkcs8', new Uint8Array(pkcs8), RS256, false, ['sign'])

const RS256 = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } as const

/** What the private half of a key is sealed for, with the key of its site. */
export const signingKeySealContext = (userPoolId: string, kid: string): string =>
  `signing-key:${userPoolId}:${kid}`
