import { AppError } from '#base/app-error.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

import { type StoredRefreshToken, selectRefreshToken } from './queries.ts'
import type { TokenEndpointDeps } from './token-endpoint-deps.ts'

export interface RevocationRequest {
  readonly clientId: string
  /** A refresh token or an access token. */
  readonly token: string
}

type SignInOf = Pick<StoredRefreshToken, 'sub' | 'familyId' | 'clientId'>

/** RFC 7009. Whichever of its tokens is given, the whole sign-in of that client ends. */
export async function endSignInOf(
  deps: TokenEndpointDeps,
  { site, pool, origin }: PoolRequest,
  { token, clientId }: RevocationRequest,
): Promise<void> {
  const signIn = token.includes('.')
    ? await ofAccessToken(deps, site, pool, token)
    : await ofRefreshToken(deps, site, pool, token)
  if (signIn?.clientId !== clientId) return
  const { sub, familyId } = signIn
  await deps.database.withSite(site.siteId, async (tx) => {
    if (!(await deps.families.end(tx, { userPoolId: pool.userPoolId, sub }, familyId))) return
    const event = { event: 'token.revoked', pool: pool.kind, sub, clientId, origin } as const
    await deps.events.record(tx, event)
  })
}

async function ofRefreshToken(
  { database }: TokenEndpointDeps,
  site: Site,
  pool: Pool,
  token: string,
): Promise<SignInOf | undefined> {
  const stored = await database.withSite(site.siteId, (tx) =>
    selectRefreshToken(tx, hashSecret(token)),
  )
  return stored?.userPoolId === pool.userPoolId ? stored : undefined
}

async function ofAccessToken(
  { verifier }: TokenEndpointDeps,
  site: Site,
  pool: Pool,
  token: string,
): Promise<SignInOf | undefined> {
  try {
    const { claims } = await verifier.verify(site, pool.kind, token, {
      uses: ['access'],
      clients: 'any',
    })
    const { sub, origin_jti: familyId, client_id: clientId } = claims
    return familyId === undefined || clientId === undefined
      ? undefined
      : { sub, familyId, clientId }
  } catch (error) {
    if (error instanceof AppError && error.code === 'Unauthorized') return undefined
    throw error
  }
}
