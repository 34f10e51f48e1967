import { sql } from 'kysely'

import type { DueJobsTx, SiteTx } from '#platform/postgres/database.ts'

/** Replicas read the clock of the database at slightly different moments. */
const SET_AHEAD_MS = 1000

export interface DueJob {
  readonly siteId: string
  readonly jobId: string
  readonly dueAt: Date
}

/** Selects from all sites, the longest due first. `after` is the last one already seen. */
export function selectDueJobs(
  tx: DueJobsTx,
  now: Date,
  page: { readonly limit: number; readonly after: DueJob | undefined },
): Promise<DueJob[]> {
  const { after } = page
  return tx.db
    .selectFrom('data_job_due')
    .select(['site_id as siteId', 'job_id as jobId', 'due_at as dueAt'])
    .where('due_at', '<=', now)
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(due_at, site_id, job_id) > (${after?.dueAt}, ${after?.siteId}, ${after?.jobId})`,
      ),
    )
    .orderBy('due_at')
    .orderBy('site_id')
    .orderBy('job_id')
    .limit(page.limit)
    .execute()
}

/** Selects those whose next tick was worked out later than now: the clock has been set back since. */
export const selectSetAhead = (tx: DueJobsTx, now: Date, limit: number): Promise<DueJob[]> =>
  tx.db
    .selectFrom('data_job_due')
    .select(['site_id as siteId', 'job_id as jobId', 'due_at as dueAt'])
    .where('set_at', '>', new Date(now.getTime() + SET_AHEAD_MS))
    .limit(limit)
    .execute()

/** Whether the job is still due at that moment and nobody else is at it. Holds it until the transaction ends. */
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

/** Holds when the job is due until the transaction ends. A tick holds this before the job: so does whoever changes both. */
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
  jobId: string,
  { dueAt, now }: { readonly dueAt: Date; readonly now: Date },
): Promise<void> {
  await tx.db
    .insertInto('data_job_due')
    .values({ site_id: tx.siteId, job_id: jobId, due_at: dueAt, set_at: now })
    .onConflict((on) =>
      on.columns(['site_id', 'job_id']).doUpdateSet({ due_at: dueAt, set_at: now }),
    )
    .execute()
}

export async function deleteDue(tx: SiteTx, jobId: string): Promise<void> {
  await tx.db
    .deleteFrom('data_job_due')
    .where('site_id', '=', tx.siteId)
    .where('job_id', '=', jobId)
    .execute()
}
