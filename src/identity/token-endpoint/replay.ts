import type { PoolRequest } from '#identity/pool-request.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import { type GrantResult, denied } from './oauth-error.ts'
import type { GrantDeps } from './token-endpoint-deps.ts'

interface Replay {
  readonly event: 'authorization-code.replayed' | 'refresh-token.replayed'
  readonly description: string
  readonly stored: {
    readonly userPoolId: string
    readonly sub: string
    readonly clientId: string
    readonly familyId: string | null
  }
}

/** Ends the sign-in of a code or refresh token that was used a second time. */
export async function endReplayed(
  deps: GrantDeps,
  tx: SiteTx,
  { pool, origin }: PoolRequest,
  { event, description, stored }: Replay,
): Promise<GrantResult<never>> {
  const { sub, familyId, clientId } = stored
  if (familyId !== null) await deps.families.end(tx, stored, familyId)
  await deps.events.record(tx, { event, pool: pool.kind, sub, clientId, origin })
  return denied('invalid_grant', description)
}
