import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { ActivationReason } from './activation-record.ts'
import type { CallCounts } from './rollback-rule.ts'

/** An activation, as it is judged. */
export interface WatchedActivation extends CallCounts {
  readonly deploymentId: string
  readonly replacedId: string | null
  readonly reason: ActivationReason
  readonly rollbackStatus: 'due' | 'done' | 'failed' | null
}

const WATCHED = [
  'deployment_id as deploymentId',
  'replaced_id as replacedId',
  'reason',
  'calls',
  'failures',
  'rollback_status as rollbackStatus',
] as const

/** Locks the row until the transaction ends: of replicas that add at once, one finds the sum too high. */
export function addCalls(
  tx: SiteTx,
  activationNumber: number,
  { calls, failures }: CallCounts,
): Promise<WatchedActivation | undefined> {
  return tx.db
    .updateTable('deployment_activation')
    .set({ calls: sql`calls + ${calls}`, failures: sql`failures + ${failures}` })
    .where('site_id', '=', tx.siteId)
    .where('activation_number', '=', activationNumber)
    .returning(WATCHED)
    .executeTakeFirst()
}

export function selectWatchedActivation(
  tx: SiteTx,
  activationNumber: number,
): Promise<WatchedActivation | undefined> {
  return tx.db
    .selectFrom('deployment_activation')
    .select(WATCHED)
    .where('site_id', '=', tx.siteId)
    .where('activation_number', '=', activationNumber)
    .executeTakeFirst()
}

export async function updateRollbackStatus(
  tx: SiteTx,
  activationNumber: number,
  { status, error }: { readonly status: 'due' | 'done' | 'failed'; readonly error?: string },
): Promise<void> {
  await tx.db
    .updateTable('deployment_activation')
    .set({ rollback_status: status, rollback_error: error ?? null })
    .where('site_id', '=', tx.siteId)
    .where('activation_number', '=', activationNumber)
    .execute()
}

export async function selectSiteSettings(tx: SiteTx): Promise<unknown> {
  const row = await tx.db
    .selectFrom('site')
    .select('deployment_settings')
    .where('site_id', '=', tx.siteId)
    .executeTakeFirst()
  return row?.deployment_settings
}

/** The current one; undefined before the first. */
export async function selectNewestActivationNumber(tx: SiteTx): Promise<number | undefined> {
  const row = await tx.db
    .selectFrom('deployment_activation')
    .select('activation_number')
    .where('site_id', '=', tx.siteId)
    .orderBy('activation_number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.activation_number
}
