import { AppError } from '#base/app-error.ts'
import type { Pool } from '#identity/pools/model.ts'
import { scopesOf } from '#identity/pools/scopes.ts'
import { findSessionAccount } from '#identity/sessions/session-accounts.ts'
import { bearerToken } from '#identity/tokens/bearer.ts'
import type { TokenClaims } from '#identity/tokens/claims.ts'
import { isRevoked } from '#identity/users/model.ts'
import type { Site } from '#sites/site.ts'

import type { UserInfo } from './model.ts'
import { OAuthError } from './oauth-error.ts'
import type { TokenEndpointDeps } from './token-endpoint-deps.ts'

/** What an access token's holder may know of its user: as the account is now, as far as the token's scopes go. */
export async function userInfoOf(
  deps: TokenEndpointDeps,
  site: Site,
  pool: Pool,
  authorization: string | undefined,
): Promise<UserInfo> {
  const claims = await verifiedClaims(deps, site, pool, authorization)
  const scopes = scopesOf(claims.scope ?? '')
  if (!scopes.includes('openid')) {
    throw new OAuthError('insufficient_scope', 'The access token lacks the scope "openid"')
  }
  const account = await deps.database.withSite(site.siteId, (tx) =>
    findSessionAccount(tx, pool, claims.sub),
  )
  if (!account) throw invalidToken()
  const { sub, email, emailVerified, name } = account
  return {
    sub,
    ...(scopes.includes('profile') && { username: email, ...(name !== null && { name }) }),
    ...(scopes.includes('email') && { email, email_verified: emailVerified }),
  }
}

async function verifiedClaims(
  { verifier, users }: TokenEndpointDeps,
  site: Site,
  pool: Pool,
  authorization: string | undefined,
): Promise<TokenClaims> {
  try {
    const token = bearerToken(authorization)
    const { claims, expired } = await verifier.verify(site, pool.kind, token, {
      uses: ['access'],
      clients: 'any',
    })
    const status = await users.accountStatus(site, pool.userPoolId, claims)
    if (!status || isRevoked(status, claims.iat) || expired) throw invalidToken()
    return claims
  } catch (error) {
    throw error instanceof AppError && error.code === 'Unauthorized' ? invalidToken() : error
  }
}

const invalidToken = (): OAuthError =>
  new OAuthError('invalid_token', 'The access token is not valid here, or has ended')
