import { timingSafeEqual } from 'node:crypto'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type JWTVerifyGetKey, jwtVerify } from 'jose'
import { JOSEError, JWKSNoMatchingKey } from 'jose/errors'

import { GOOGLE_ISSUER } from './model.ts'
import { untrusted } from './provider-fault.ts'

const ALGORITHMS = ['RS256', 'ES256']
const CLOCK_SKEW_SECONDS = 60
/** A token that was made long before the visit ended was made for something else. */
const MAX_AGE_SECONDS = 15 * 60
const MAX_LENGTH = 32 * 1024

const IdTokenClaims = Type.Object({
  iss: Type.String(),
  /** At most 255 ASCII characters, says OpenID Connect. */
  sub: Type.String({ minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' }),
  aud: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 20 })]),
  azp: Type.Optional(Type.String()),
  exp: Type.Number(),
  iat: Type.Number(),
  nonce: Type.String(),
  auth_time: Type.Optional(Type.Number()),
})

/** What an id token, or the user info that belongs to it, says about somebody. */
export interface ProviderClaims {
  readonly subject: string
  readonly email: unknown
  readonly emailVerified: unknown
  /** When they proved who they are to the provider, where it says so. */
  readonly authTimeSeconds: number | undefined
}

export interface ExpectedToken {
  readonly issuer: string
  readonly clientId: string
  readonly nonce: string
  readonly now: Date
}

/** True for a token signed with a key that is not in the set: the provider may have a new one. */
export const isUnknownKey = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof JWKSNoMatchingKey

/** OpenID Connect Core, section 3.1.3.7. Whatever is wrong is a `ProviderFault` of the kind `untrusted`. */
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
  // Of several audiences, the one that it was made for is `azp`; and when `azp` is there, it is us.
  if ((Array.isArray(aud) && aud.length > 1 && azp === undefined) || !isUs(azp, expected)) {
    throw untrusted('The id token was made for another client')
  }
  if (!sameText(payload.nonce, expected.nonce)) {
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
    // Nothing but the provider's own token and keys is at work here: a key that cannot be used is its fault, too.
    const reason = cause instanceof JOSEError ? `${cause.code}: ${cause.message}` : 'unusable key'
    throw untrusted(`The id token is not valid (${reason})`, { cause })
  }
}

/** Google documents that it leaves out the scheme at times. */
const spellingsOf = (issuer: string): string[] =>
  issuer === GOOGLE_ISSUER ? [issuer, 'accounts.google.com'] : [issuer]

const isUs = (azp: string | undefined, { clientId }: ExpectedToken): boolean =>
  azp === undefined || azp === clientId

function sameText(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
