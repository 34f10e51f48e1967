import type { PoolRequest } from '#identity/pool-request.ts'
import type { Client } from '#identity/pools/client.ts'
import type { Pool } from '#identity/pools/model.ts'
import { COGNITO_API_SCOPE, scopesOf } from '#identity/pools/scopes.ts'
import type { ProvingSignIn } from '#identity/proofs/sign-in-proofs.ts'
import { bearerToken } from '#identity/tokens/bearer.ts'
import type { TokenClaims } from '#identity/tokens/claims.ts'
import { isRevoked } from '#identity/users/model.ts'

import { CognitoError, notAuthorized } from './cognito-error.ts'
import type { CognitoServices } from './cognito-services.ts'

export interface ClientIdentity {
  readonly ClientId: string
  readonly SecretHash?: string | null
}

/** The client, when the operator lets it use this API. Any other does not exist here. */
export function requireCognitoClient(pool: Pool, { ClientId, SecretHash }: ClientIdentity): Client {
  const client = pool.clients.get(ClientId)
  if (!client?.cognitoApi || client.purpose !== 'default') {
    throw new CognitoError(
      'ResourceNotFoundException',
      `User pool client ${ClientId} does not exist.`,
    )
  }
  if (typeof SecretHash === 'string') {
    throw notAuthorized(`Unable to verify secret hash for client ${ClientId}`)
  }
  return client
}

/** The claims of an access token, which must come from a sign-in that was granted this API. */
export async function accessTokenClaims(
  { verifier, users }: CognitoServices,
  { site, pool }: PoolRequest,
  accessToken: string,
): Promise<TokenClaims> {
  const token = bearerToken(`Bearer ${accessToken}`)
  const { claims, expired } = await verifier.verify(site, pool.kind, token, {
    uses: ['access'],
    clients: 'own',
  })
  const status = await users.accountStatus(site, pool.userPoolId, claims)
  if (!status || isRevoked(status, claims.iat)) {
    throw notAuthorized('Access Token has been revoked')
  }
  if (expired) throw notAuthorized('Access Token has expired')
  requireCognitoClient(pool, { ClientId: claims.client_id ?? '' })
  if (!scopesOf(claims.scope ?? '').includes(COGNITO_API_SCOPE)) {
    throw notAuthorized('Access Token does not have required scopes')
  }
  return claims
}

/** The account of a token, and the sign-in that the token comes from. */
export const signedInOf = ({ sub, origin_jti: familyId }: TokenClaims): ProvingSignIn => ({
  sub,
  familyId,
})

/** Names the sign-in in what is worked out for it. */
export const signInOf = ({ origin_jti, jti }: TokenClaims): string => origin_jti ?? jti
