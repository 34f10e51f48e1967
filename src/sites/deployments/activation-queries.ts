import { sql } from 'kysely'

import type { Actor } from '#base/actor.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { ActivationReason, ActivationRow, FileChangeCounts } from './activation-record.ts'
import { deployerOf } from './deployer.ts'

const COLUMNS = [
  'activation_number',
  'deployment_id',
  'replaced_id',
  'reason',
  'activated_by',
  'activated_at',
  'files_added',
  'files_changed',
  'files_removed',
  'calls',
  'failures',
  'rollback_status',
  'rollback_error',
] as const

export interface NewActivation {
  readonly deploymentId: string
  readonly replacedId: string | null
  readonly reason: ActivationReason
  readonly by: Actor
  readonly fileChanges: FileChangeCounts | null
}

/** The site is locked, so that numbers count up in the order of commits. Returns the number. */
export async function insertActivation(
  tx: SiteTx,
  activation: NewActivation,
  now: Date,
): Promise<number> {
  const { deploymentId, replacedId, reason, by, fileChanges } = activation
  const newest = tx.db
    .selectFrom('deployment_activation')
    .select(sql<number>`coalesce(max(activation_number), 0) + 1`.as('next'))
    .where('site_id', '=', tx.siteId)
  const row = await tx.db
    .insertInto('deployment_activation')
    .values({
      site_id: tx.siteId,
      activation_number: newest,
      deployment_id: deploymentId,
      replaced_id: replacedId,
      reason,
      activated_by: JSON.stringify(deployerOf(by)),
      activated_at: now,
      files_added: fileChanges?.added ?? null,
      files_changed: fileChanges?.changed ?? null,
      files_removed: fileChanges?.removed ?? null,
    })
    .returning('activation_number')
    .executeTakeFirstOrThrow()
  return row.activation_number
}

/** Of each deployment the newest ones, newest first. */
export async function selectActivations(
  tx: SiteTx,
  deploymentIds: readonly string[],
  each: number,
): Promise<ActivationRow[]> {
  if (deploymentIds.length === 0) return []
  const ranked = tx.db
    .selectFrom('deployment_activation')
    .select(COLUMNS)
    .select(
      sql<string>`row_number() over (partition by deployment_id order by activation_number desc)`.as(
        'rank',
      ),
    )
    .where('site_id', '=', tx.siteId)
    .where('deployment_id', 'in', deploymentIds)
  return tx.db
    .selectFrom(ranked.as('ranked'))
    .select(COLUMNS)
    .where('rank', '<=', String(each))
    .orderBy('activation_number', 'desc')
    .execute()
}

/** Newest first, also of deployments that are gone. */
export function selectNewestActivations(
  tx: SiteTx,
  which: {
    readonly limit: number
    readonly deploymentId?: string
    readonly reason?: ActivationReason
  },
): Promise<ActivationRow[]> {
  const { deploymentId, reason, limit } = which
  return tx.db
    .selectFrom('deployment_activation')
    .select(COLUMNS)
    .where('site_id', '=', tx.siteId)
    .$if(deploymentId !== undefined, (query) =>
      query.where('deployment_id', '=', deploymentId ?? ''),
    )
    .$if(reason !== undefined, (query) => query.where('reason', '=', reason ?? 'deploy'))
    .orderBy('activation_number', 'desc')
    .limit(limit)
    .execute()
}

export async function deleteActivationsUpTo(tx: SiteTx, activationNumber: number): Promise<void> {
  await tx.db
    .deleteFrom('deployment_activation')
    .where('site_id', '=', tx.siteId)
    .where('activation_number', '<=', activationNumber)
    .execute()
}
