import type { Pool } from '#identity/pools/model.ts'

import type { TokenClaims, TokenUse } from './claims.ts'

/** `iat` may be this far ahead: the clocks of two replicas, and the second that follows a revocation. */
const IAT_TOLERANCE_SECONDS = 60

export interface TokenToCheck {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: TokenClaims
  readonly pool: Pick<Pool, 'issuer' | 'clientId'>
  readonly uses: readonly TokenUse[]
  readonly nowSeconds: number
}

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
  { refusal: 'typ', passes: ({ header }) => header['typ'] === 'JWT' },
  { refusal: 'iss', passes: ({ claims, pool }) => claims.iss === pool.issuer },
  { refusal: 'token_use', passes: ({ claims, uses }) => uses.includes(claims.token_use) },
  {
    refusal: 'client',
    passes: ({ claims, pool }) =>
      claims.token_use === 'access'
        ? claims.client_id === pool.clientId && claims.aud === undefined
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
