import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type JWTVerifyGetKey, jwtVerify } from 'jose'
import { JOSEError, JWKSNoMatchingKey } from 'jose/errors'

import { isSameText } from '#base/same-text.ts'

import { GOOGLE_ISSUER } from './model.ts'
import { untrusted } from './provider-fault.ts'

const ALGORITHMS = ['RS256', 'ES256']
const CLOCK_SKEW_SECONDS = 60
/** A token that is older was issued for another sign-in. */
const MAX_AGE_SECONDS = 15 * 60
const MAX_LENGTH = 32 * 1024

const IdTokenClaims = Type.Object({
  iss: Type.String(),
  /** OpenID Connect Core section 2: at most 255 ASCII characters. */
  sub: Type.String({ minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' }),
  aud: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 20 })]),
  azp: Type.Optional(Type.String()),
  exp: Type.Number(),
  iat: Type.Number(),
  nonce: Type.String(),
  auth_time: Type.Optional(Type.Number()),
})

/** What an id token, or the user info that belongs to it, says about its user. */
export interface ProviderClaims {
  readonly subject: string
  readonly email: unknown
  readonly emailVerified: unknown
  /** `auth_time`: when the user authenticated at the provider. */
  readonly authTimeSeconds: number | undefined
}

export interface ExpectedToken {
  readonly issuer: string
  readonly clientId: string
  readonly nonce: string
  readonly now: Date
}

/** Whether the token names a key that is not in the set: the provider may have rotated its keys. */
export const isUnknownKey = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof JWKSNoMatchingKey

/** OpenID Connect Core section 3.1.3.7. Every failure is a `ProviderFault` of the kind `untrusted`. */
export async function readIdToken(
  token: unknown,
  keys: JWTVerifyGetKey,
  expected: ExpectedToken,
): Promise<ProviderClaims> {
  if (typeof token !== 'string' || token.length > MAX_LENGTH)
    throw untrusted('There is no id token')
  const payload = await verified(token, keys, expected)
  if (!Value.Check(IdTokenClaims, payload)) throw untrusted('The id token lacks claims')
  const { aud, azp } = payload
  // `azp` is required with several audiences, and must name our client wherever it is present.
  if ((Array.isArray(aud) && aud.length > 1 && azp === undefined) || !isUs(azp, expected)) {
    throw untrusted('The id token was made for another client')
  }
  if (!isSameText(payload.nonce, expected.nonce)) {
    throw untrusted('The id token was made for another visit')
  }
  const { email, email_verified: emailVerified } = payload as Record<string, unknown>
  return { subject: payload.sub, email, emailVerified, authTimeSeconds: payload.auth_time }
}

async function verified(
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, clientId, now }: ExpectedToken,
): Promise<unknown> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      algorithms: ALGORITHMS,
      issuer: spellingsOf(issuer),
      audience: clientId,
      clockTolerance: CLOCK_SKEW_SECONDS,
      maxTokenAge: MAX_AGE_SECONDS,
      requiredClaims: ['exp', 'iat', 'sub', 'nonce'],
      currentDate: now,
    })
    return payload
  } catch (cause) {
    // The only inputs are the provider's token and keys, so an unusable key is the provider's fault as well.
    const reason = cause instanceof JOSEError ? `${cause.code}: ${cause.message}` : 'unusable key'
    throw untrusted(`The id token is not valid (${reason})`, { cause })
  }
}

/** Google documents that its `iss` may lack the scheme. */
const spellingsOf = (issuer: string): string[] =>
  issuer === GOOGLE_ISSUER ? [issuer, 'accounts.google.com'] : [issuer]

const isUs = (azp: string | undefined, { clientId }: ExpectedToken): boolean =>
  azp === undefined || azp === clientId
