import type { PoolRequest } from '#identity/pool-request.ts'
import { COGNITO_API_SCOPE, scopesOf } from '#identity/pools/scopes.ts'
import { bearerToken } from '#identity/tokens/bearer.ts'
import type { TokenClaims } from '#identity/tokens/claims.ts'
import { isRevoked } from '#identity/users/model.ts'

import { requireCognitoClient } from './client.ts'
import { notAuthorized } from './cognito-error.ts'
import type { CognitoServices } from './cognito-services.ts'

/** Who holds an access token of the pool, which must come from a sign-in that was granted this API. */
export async function accessTokenClaims(
  { verifier, users }: CognitoServices,
  { site, pool }: PoolRequest,
  accessToken: string,
): Promise<TokenClaims> {
  const token = bearerToken(`Bearer ${accessToken}`)
  const { claims, expired } = await verifier.verify(site, pool.kind, token, ['access'])
  const standing = await users.accountStatus(site, pool.userPoolId, claims)
  if (!standing || isRevoked(standing, claims.iat)) {
    throw notAuthorized('Access Token has been revoked')
  }
  if (expired) throw notAuthorized('Access Token has expired')
  requireCognitoClient(pool, { ClientId: claims.client_id ?? '' })
  if (!scopesOf(claims.scope ?? '').includes(COGNITO_API_SCOPE)) {
    throw notAuthorized('Access Token does not have required scopes')
  }
  return claims
}
