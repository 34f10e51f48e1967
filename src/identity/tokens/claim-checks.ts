import type { Pool } from '#identity/pools/model.ts'

import { type TokenClaims, type TokenUse, tokenTypeOf } from './claims.ts'

/** `iat` may be this far ahead: the clocks of two replicas. */
const IAT_TOLERANCE_SECONDS = 60

export interface TokenToCheck {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: TokenClaims
  readonly pool: Pick<Pool, 'issuer' | 'clientId'>
  readonly uses: readonly TokenUse[]
  readonly nowSeconds: number
}

/** In either format: the client may have had the other one when the token was made. */
const isForOrigin = ({ aud }: TokenClaims, { issuer }: Pick<Pool, 'issuer'>): boolean =>
  aud === undefined || aud === new URL(issuer).origin

/** The checks after the signature's, in order. Expiry is not among them, because it has an error of its own. */
const CHECKS: readonly {
  readonly refusal: string
  readonly passes: (token: TokenToCheck) => boolean
}[] = [
  // We write these three and nothing else; a token that brings its own key or certificate is not ours.
  {
    refusal: 'header',
    passes: ({ header }) =>
      Object.keys(header).every((name) => name === 'alg' || name === 'kid' || name === 'typ'),
  },
  {
    refusal: 'typ',
    passes: ({ header, claims }) => header['typ'] === tokenTypeOf(claims),
  },
  { refusal: 'iss', passes: ({ claims, pool }) => claims.iss === pool.issuer },
  { refusal: 'token_use', passes: ({ claims, uses }) => uses.includes(claims.token_use) },
  {
    refusal: 'client',
    passes: ({ claims, pool }) =>
      claims.token_use === 'access'
        ? claims.client_id === pool.clientId && isForOrigin(claims, pool)
        : claims.aud === pool.clientId && claims.client_id === undefined,
  },
  { refusal: 'nbf', passes: ({ claims, nowSeconds }) => (claims.nbf ?? 0) <= nowSeconds },
  {
    refusal: 'iat',
    passes: ({ claims, nowSeconds }) => claims.iat <= nowSeconds + IAT_TOLERANCE_SECONDS,
  },
]

/** The first check that the token fails, or undefined. */
export const failedClaimCheck = (token: TokenToCheck): string | undefined =>
  CHECKS.find(({ passes }) => !passes(token))?.refusal
