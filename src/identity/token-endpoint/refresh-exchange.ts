import { hashSecret } from '#identity/hash-secret.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import { scopesOf } from '#identity/pools/scopes.ts'
import { idleSince } from '#identity/sessions/model.ts'
import { lockAccountOfSignIn } from '#identity/sessions/session-accounts.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { TokenSet } from './model.ts'
import { type GrantResult, granted, denied } from './oauth-error.ts'
import { type StoredRefreshToken, markRefreshTokenUsed, selectRefreshToken } from './queries.ts'
import { endReplayed } from './replay.ts'
import type { GrantDeps } from './token-endpoint-deps.ts'

export interface RefreshGrant {
  readonly clientId: string
  readonly refreshToken: string
  /** Requests fewer scopes than were granted, for this response alone. */
  readonly scope?: string | undefined
}

/**
 * Turns a refresh token into the next tokens of its sign-in. The same token again gets the same tokens for 10 seconds;
 * a later use ends the sign-in (RFC 9700 section 4.14.2).
 */
export async function exchangeRefreshToken(
  deps: GrantDeps,
  tx: SiteTx,
  request: PoolRequest,
  grant: RefreshGrant,
): Promise<GrantResult<TokenSet>> {
  const { site, pool } = request
  const tokenHash = hashSecret(grant.refreshToken)
  const now = deps.clock.now()
  const stored = await selectRefreshToken(tx, tokenHash)
  const fault = faultOf(stored, pool, grant, now)
  if (!stored || fault !== undefined) {
    return denied('invalid_grant', fault ?? 'refresh_token is not known')
  }
  const scope = narrowScope(stored.scope, grant.scope)
  if (scope === undefined) {
    return denied('invalid_scope', 'scope names more than the sign-in was granted')
  }
  const account = await lockAccountOfSignIn(tx, pool, stored)
  if (!account) return denied('invalid_grant', 'The user has been signed out')
  const { familyId, clientId, authTime, sessionId } = stored
  const use = { refreshToken: grant.refreshToken, tokenHash, familyId, clientId, scope }
  if (!(await markRefreshTokenUsed(tx, tokenHash, now))) {
    const kept = await deps.refreshResponses.find(tx, use)
    if (kept) return granted(kept)
    const description = 'refresh_token was used already'
    return endReplayed(deps, tx, request, { event: 'refresh-token.replayed', description, stored })
  }
  if (sessionId !== null) await deps.families.used(tx, sessionId)
  const issued = await deps.issuer.issue(tx, { familyId, clientId, account, authTime, scope })
  const tokens = await deps.issuer.sign(site, pool, issued)
  await deps.refreshResponses.keep(tx, use, tokens)
  return granted(tokens)
}

function faultOf(
  stored: StoredRefreshToken | undefined,
  pool: Pool,
  { clientId }: RefreshGrant,
  now: Date,
): string | undefined {
  if (stored?.userPoolId !== pool.userPoolId) return 'refresh_token is not known'
  if (stored.clientId !== clientId) return 'refresh_token is of another client'
  if (stored.revokedAt !== null) return 'The sign-in has been ended'
  if (stored.expiresAt <= now) return 'refresh_token has expired'
  return stored.issuedAt <= idleSince(pool, now)
    ? 'The sign-in has ended because it was not used for too long'
    : undefined
}

/** The requested scopes in the order in which they were granted; undefined when they are more than were granted. */
function narrowScope(grantedScope: string, requested: string | undefined): string | undefined {
  if (requested === undefined) return grantedScope
  const all = scopesOf(grantedScope)
  const some = scopesOf(requested)
  if (some.length === 0 || some.some((scope) => !all.includes(scope))) return undefined
  return all.filter((scope) => some.includes(scope)).join(' ')
}
