import { type Static, Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'
import type { Pool } from '#identity/pools/model.ts'
import { SCOPES } from '#identity/pools/scopes.ts'

export const GOOGLE = 'Google'
export const GOOGLE_ISSUER = 'https://accounts.google.com'
export const DEFAULT_SCOPES: readonly string[] = SCOPES

/** RFC 6749, appendix A.4: what a scope token may be made of. */
const SCOPE = '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$'
/** RFC 6749, appendices A.1 and A.2, without the space. */
const VISIBLE = '^[\\x21-\\x7e]+$'

/** The operator's settings of a site's Google provider; what is left out stays as it is. */
export const GoogleInput = Type.Object(
  {
    issuer: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    clientId: Type.Optional(Type.String({ minLength: 1, maxLength: 512, pattern: VISIBLE })),
    /** Never shown again. */
    clientSecret: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, pattern: VISIBLE })),
    scopes: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 256, pattern: SCOPE }), {
        minItems: 1,
        maxItems: 50,
        uniqueItems: true,
      }),
    ),
    enabled: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)
export type GoogleInput = Static<typeof GoogleInput>

export const ProviderRecord = Type.Object(
  {
    provider: Type.Literal(GOOGLE),
    issuer: Type.String(),
    clientId: Type.String(),
    scopes: Type.Array(Type.String()),
    enabled: Type.Boolean(),
    /** The operator has to register it at the provider. */
    redirectUri: Type.String(),
    /** The one that sign-ins use: a former one, until the provider is seen to know the other. */
    redirectUriInUse: Type.String(),
    createdAt: Type.String(),
    updatedAt: Type.String(),
  },
  { title: 'IdentityProvider' },
)
export type ProviderRecord = Static<typeof ProviderRecord>

/** The redirect URI for the provider; the path is Cognito's. */
export const callbackUri = (poolIssuer: string): string => `${poolIssuer}/oauth2/idpresponse`

/** The one at the issuer on that name; at the issuer of now where there is none any more. */
export const callbackUriAt = (
  { issuer, issuers }: Pick<Pool, 'issuer' | 'issuers'>,
  host: string,
): string => callbackUri(issuers.find((each) => new URL(each).hostname === host) ?? issuer)

/**
 * OpenID Connect Discovery 1.0, section 3: https, no query, no fragment. Plain http only to this machine, for
 * development: keys fetched in the clear prove nothing.
 */
export function requireIssuer(issuer: string): string {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  if (!url) throw invalid('issuer', 'give the absolute URL that the provider names as "issuer"')
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isThisMachine(url.hostname))) {
    throw invalid('issuer', 'use https (http only for a provider on this machine)')
  }
  if (/[?#\s\\]/.test(issuer) || url.username !== '' || url.password !== '') {
    throw invalid('issuer', 'an issuer has no query, fragment or credentials')
  }
  return issuer
}

/** Without `openid` the provider sends no id token. */
export function requireScopes(scopes: readonly string[]): readonly string[] {
  if (!scopes.includes('openid')) throw invalid('scopes', '"openid" must be one of them')
  return scopes
}

const isThisMachine = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)

/** What the client secret of the provider is sealed for, with the key of its site. */
export const providerSealContext = (userPoolId: string): string =>
  `identity-provider:${userPoolId}:${GOOGLE}`
