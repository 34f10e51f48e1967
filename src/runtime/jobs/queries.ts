import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'
import { type Renaming, renameKey } from '#platform/postgres/rename-key.ts'

import type { Job, JobAuth, JobDefinition } from './model.ts'
import type { ScheduleText } from './schedules/schedule.ts'

const COLUMNS = [
  'job.job_id as jobId',
  'job.operation',
  'job.schedule',
  'job.scheduled_since as scheduledSince',
  'job.auth',
  'job.enabled',
  'job.created_at as createdAt',
  'job.updated_at as updatedAt',
  'due.due_at as nextRunAt',
] as const

/** A job with what computes its ticks. */
export interface StoredJob extends Job {
  readonly scheduledSince: Date
}

/** A job whose tick is due, with what computes the next one. */
export interface DueJob extends Pick<StoredJob, 'jobId' | 'schedule' | 'scheduledSince'> {
  readonly dueAt: Date
}

export interface ListedJob extends StoredJob {
  /** The length of the payload's JSON. */
  readonly payloadBytes: number
  /** The payload is too long for a list: it reads null here. */
  readonly payloadLeftOut: boolean
}

/** Makes changes of a site's jobs happen one after the other. */
export async function lockJobs(tx: SiteTx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('data_job'), hashtext(${tx.siteId}))`.execute(
    tx.db,
  )
}

export const selectJobs = (tx: SiteTx): Promise<StoredJob[]> =>
  jobs(tx).select('job.payload').orderBy('job.job_id').execute()

/** Leaves out the payloads that have more than `maxBytes` as JSON. */
export async function selectListedJobs(tx: SiteTx, maxBytes: number): Promise<ListedJob[]> {
  const bytes = sql<number>`octet_length(job.payload::text)`
  const rows = await jobs(tx)
    .select([
      bytes.as('payloadBytes'),
      sql<unknown>`case when ${bytes} <= ${maxBytes} then job.payload end`.as('payload'),
    ])
    .orderBy('job.job_id')
    .execute()
  return rows.map((row) => ({ ...row, payloadLeftOut: row.payloadBytes > maxBytes }))
}

export const selectJob = (tx: SiteTx, jobId: string): Promise<StoredJob | undefined> =>
  jobs(tx).select('job.payload').where('job.job_id', '=', jobId).executeTakeFirst()

/**
 * Selects jobs of the site that are due, the longest due first, or of them that one, and holds their ticks until the
 * transaction ends. Leaves out those that others hold.
 */
export const claimDueJobs = (
  tx: SiteTx,
  now: Date,
  { limit, jobId }: { readonly limit: number; readonly jobId?: string | undefined },
): Promise<DueJob[]> =>
  tx.db
    .selectFrom('data_job_due as due')
    .innerJoin('data_job as job', (join) =>
      join.onRef('job.site_id', '=', 'due.site_id').onRef('job.job_id', '=', 'due.job_id'),
    )
    .select([
      'job.job_id as jobId',
      'job.schedule',
      'job.scheduled_since as scheduledSince',
      'due.due_at as dueAt',
    ])
    .$narrowType<{ schedule: ScheduleText | null }>()
    .where('due.site_id', '=', tx.siteId)
    .where('due.due_at', '<=', now)
    .$if(jobId !== undefined, (query) => query.where('due.job_id', '=', jobId ?? ''))
    .orderBy('due.due_at')
    .orderBy('due.job_id')
    .limit(limit)
    .forUpdate('due')
    .skipLocked()
    .execute()

/** Holds jobs until the transaction ends, in an order that all share. */
export async function lockJobsOf(tx: SiteTx, jobIds: readonly string[]): Promise<void> {
  await tx.db
    .selectFrom('data_job')
    .select('job_id')
    .where('site_id', '=', tx.siteId)
    .where('job_id', 'in', jobIds)
    .orderBy('job_id')
    .forNoKeyUpdate()
    .execute()
}

/** Whether there is such a job. Others that hold it wait until the transaction ends. */
export async function lockJob(tx: SiteTx, jobId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('data_job')
    .select('job_id')
    .where('site_id', '=', tx.siteId)
    .where('job_id', '=', jobId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row !== undefined
}

export async function selectJobsCalling(tx: SiteTx, operation: string): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('data_job')
    .select('job_id')
    .where('site_id', '=', tx.siteId)
    .where('operation', '=', operation)
    .orderBy('job_id')
    .execute()
  return rows.map((row) => row.job_id)
}

export async function countJobs(tx: SiteTx): Promise<number> {
  const { count } = await tx.db
    .selectFrom('data_job')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('site_id', '=', tx.siteId)
    .executeTakeFirstOrThrow()
  return count
}

export async function upsertJob(
  tx: SiteTx,
  jobId: string,
  job: JobDefinition & { readonly scheduledSince: Date },
  now: Date,
): Promise<void> {
  const columns = {
    operation: job.operation,
    payload: JSON.stringify(job.payload),
    schedule: job.schedule === null ? null : JSON.stringify(job.schedule),
    scheduled_since: job.scheduledSince,
    auth: JSON.stringify(job.auth),
    enabled: job.enabled,
    updated_at: now,
  }
  await tx.db
    .insertInto('data_job')
    .values({ site_id: tx.siteId, job_id: jobId, created_at: now, ...columns })
    .onConflict((on) => on.columns(['site_id', 'job_id']).doUpdateSet(columns))
    .execute()
}

const JOB_NAME = {
  table: 'data_job',
  column: 'job_id',
  referrers: [
    { table: 'data_job_due', column: 'job_id' },
    { table: 'data_job_run', column: 'job_id' },
  ],
} as const

/** With its runs and when it is due. */
export const renameJob = (tx: SiteTx, names: Renaming): Promise<boolean> =>
  renameKey(tx, JOB_NAME, names)

/** Deletes the job with its runs, and returns what it was. */
export const deleteJob = (
  tx: SiteTx,
  jobId: string,
): Promise<Omit<JobDefinition, 'payload'> | undefined> =>
  tx.db
    .deleteFrom('data_job')
    .where('site_id', '=', tx.siteId)
    .where('job_id', '=', jobId)
    .returning(['operation', 'schedule', 'auth', 'enabled'])
    .$narrowType<{ schedule: ScheduleText | null; auth: JobAuth }>()
    .executeTakeFirst()

/** Only `parseJob` makes what the columns `schedule` and `auth` hold. */
const jobs = (tx: SiteTx) =>
  tx.db
    .selectFrom('data_job as job')
    .leftJoin('data_job_due as due', (join) =>
      join.onRef('due.site_id', '=', 'job.site_id').onRef('due.job_id', '=', 'job.job_id'),
    )
    .select(COLUMNS)
    .$narrowType<{ schedule: ScheduleText | null; auth: JobAuth }>()
    .where('job.site_id', '=', tx.siteId)
