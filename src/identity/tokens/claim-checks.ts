import type { Client } from '#identity/pools/client.ts'
import type { Pool } from '#identity/pools/model.ts'

import { type TokenClaims, type TokenUse, tokenTypeOf } from './claims.ts'

/** `iat` may be this far ahead: the clocks of two replicas. */
const IAT_TOLERANCE_SECONDS = 60

export interface TokenToCheck {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: TokenClaims
  readonly pool: Pick<Pool, 'issuers' | 'apiOrigin' | 'clients'>
  readonly uses: readonly TokenUse[]
  readonly clients: TokenClients
  readonly nowSeconds: number
}

/** Of which clients a token may be: of the site's own application, or of any. None is of the client for linking. */
export type TokenClients = 'own' | 'any'

const TAKEN: Record<TokenClients, (client: Client) => boolean> = {
  own: ({ purpose }) => purpose === 'default',
  any: ({ purpose, application }) => purpose === 'default' || application !== undefined,
}

/** An access token names its client as `client_id`, an id token as `aud`. */
export const clientIdOf = ({ token_use: use, client_id: clientId, aud }: TokenClaims): string =>
  (use === 'access' ? clientId : aud) ?? ''

function isOfClient({ claims, pool, clients }: TokenToCheck): boolean {
  const client = pool.clients.get(clientIdOf(claims))
  if (client === undefined || !TAKEN[clients](client)) return false
  return claims.token_use === 'access' ? isForOrigin(claims, pool) : claims.client_id === undefined
}

/** In either format: the client may have had the other one when the token was made. */
const isForOrigin = ({ aud }: TokenClaims, { apiOrigin }: Pick<Pool, 'apiOrigin'>): boolean =>
  aud === undefined || aud === apiOrigin

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
  { refusal: 'iss', passes: ({ claims, pool }) => pool.issuers.includes(claims.iss) },
  { refusal: 'token_use', passes: ({ claims, uses }) => uses.includes(claims.token_use) },
  { refusal: 'client', passes: isOfClient },
  { refusal: 'nbf', passes: ({ claims, nowSeconds }) => (claims.nbf ?? 0) <= nowSeconds },
  {
    refusal: 'iat',
    passes: ({ claims, nowSeconds }) => claims.iat <= nowSeconds + IAT_TOLERANCE_SECONDS,
  },
]

/** The first check that the token fails, or undefined. */
export const failedClaimCheck = (token: TokenToCheck): string | undefined =>
  CHECKS.find(({ passes }) => !passes(token))?.refusal
