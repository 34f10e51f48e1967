import type { DueJobsTx, SiteTx } from '#platform/postgres/database.ts'

/** Replicas read the clock of the database at slightly different moments. */
const SET_AHEAD_MS = 1000

export interface DueTick {
  readonly siteId: string
  readonly jobId: string
  readonly dueAt: Date
}

/** Selects when the next job of any site is due; undefined when none has a schedule. */
export async function selectNextDue(tx: DueJobsTx): Promise<Date | undefined> {
  const row = await tx.db
    .selectFrom('data_job_due')
    .select('due_at as dueAt')
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst()
  return row?.dueAt
}

/** Selects the sites that have due jobs; when there are more than `limit`, those that have waited longest. */
export async function selectDueSites(tx: DueJobsTx, now: Date, limit: number): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('data_job_due')
    .select('site_id as siteId')
    .where('due_at', '<=', now)
    .groupBy('site_id')
    .orderBy((row) => row.fn.min('due_at'))
    .limit(limit)
    .execute()
  return rows.map(({ siteId }) => siteId)
}

/** Selects the jobs of the site that are due. */
export async function selectDueIds(tx: SiteTx, now: Date): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('data_job_due')
    .select('job_id as jobId')
    .where('site_id', '=', tx.siteId)
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .execute()
  return rows.map(({ jobId }) => jobId)
}

/** Selects those whose next tick was worked out later than now: the clock has been set back since. */
export const selectSetAhead = (tx: DueJobsTx, now: Date, limit: number): Promise<DueTick[]> =>
  tx.db
    .selectFrom('data_job_due')
    .select(['site_id as siteId', 'job_id as jobId', 'due_at as dueAt'])
    .where('set_at', '>', new Date(now.getTime() + SET_AHEAD_MS))
    .limit(limit)
    .execute()

/** Whether the job is still due at that moment and no other worker has it. Holds it until the transaction ends. */
export async function claimDue(tx: SiteTx, jobId: string, dueAt: Date): Promise<boolean> {
  const row = await tx.db
    .selectFrom('data_job_due')
    .select('job_id')
    .where('site_id', '=', tx.siteId)
    .where('job_id', '=', jobId)
    .where('due_at', '=', dueAt)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  return row !== undefined
}

/** Holds when the job is due until the transaction ends. A tick locks this before the job, and so does a writer of both. */
export async function lockDue(tx: SiteTx, jobId: string): Promise<void> {
  await tx.db
    .selectFrom('data_job_due')
    .select('job_id')
    .where('site_id', '=', tx.siteId)
    .where('job_id', '=', jobId)
    .forUpdate()
    .execute()
}

export async function upsertDue(
  tx: SiteTx,
  ticks: readonly { readonly jobId: string; readonly dueAt: Date }[],
  now: Date,
): Promise<void> {
  if (ticks.length === 0) return
  await tx.db
    .insertInto('data_job_due')
    .values(
      ticks.map(({ jobId, dueAt }) => ({
        site_id: tx.siteId,
        job_id: jobId,
        due_at: dueAt,
        set_at: now,
      })),
    )
    .onConflict((on) =>
      on.columns(['site_id', 'job_id']).doUpdateSet((row) => ({
        due_at: row.ref('excluded.due_at'),
        set_at: row.ref('excluded.set_at'),
      })),
    )
    .execute()
}

export async function deleteDue(tx: SiteTx, jobIds: readonly string[]): Promise<void> {
  if (jobIds.length === 0) return
  await tx.db
    .deleteFrom('data_job_due')
    .where('site_id', '=', tx.siteId)
    .where('job_id', 'in', jobIds)
    .execute()
}
