import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { JobRun, LastRun, OpenRun, RunError, RunStatus } from './run-model.ts'

const OPEN: readonly RunStatus[] = ['queued', 'running']

const COLUMNS = [
  'run_id as runId',
  'job_id as jobId',
  'run_number as runNumber',
  'status',
  'trigger',
  'scheduled_for as scheduledFor',
  'missed',
  'operation',
  'request_id as requestId',
  'attempts',
  'result',
  'result_bytes as resultBytes',
  'error',
  'created_at as createdAt',
  'started_at as startedAt',
  'finished_at as finishedAt',
] as const

export interface NumberedRun extends JobRun {
  readonly runNumber: string
}

export type NewRun = Pick<JobRun, 'runId' | 'jobId' | 'trigger' | 'requestId' | 'createdAt'> & {
  readonly status: 'queued' | 'skipped' | 'failed'
  readonly scheduledFor?: Date
  readonly missed?: number
  readonly error?: RunError
}

export async function insertRun(tx: SiteTx, run: NewRun): Promise<void> {
  await tx.db
    .insertInto('data_job_run')
    .values({
      site_id: tx.siteId,
      run_id: run.runId,
      job_id: run.jobId,
      status: run.status,
      trigger: run.trigger,
      scheduled_for: run.scheduledFor ?? null,
      missed: run.missed ?? 0,
      request_id: run.requestId,
      error: run.error === undefined ? null : JSON.stringify(run.error),
      created_at: run.createdAt,
      finished_at: run.status === 'queued' ? null : run.createdAt,
    })
    .execute()
}

export async function hasRunOfTick(
  tx: SiteTx,
  { jobId, scheduledFor }: { readonly jobId: string; readonly scheduledFor: Date },
): Promise<boolean> {
  const row = await tx.db
    .selectFrom('data_job_run')
    .select('run_id')
    .where('site_id', '=', tx.siteId)
    .where('job_id', '=', jobId)
    .where('scheduled_for', '=', scheduledFor)
    .executeTakeFirst()
  return row !== undefined
}

/** Newest first. `page.before` is the number of the last run already seen. */
export function selectRuns(
  tx: SiteTx,
  jobId: string,
  page: { readonly limit: number; readonly before: string | undefined },
): Promise<NumberedRun[]> {
  return runs(tx)
    .where('job_id', '=', jobId)
    .$if(page.before !== undefined, (query) => query.where('run_number', '<', page.before ?? ''))
    .orderBy('run_number', 'desc')
    .limit(page.limit)
    .execute()
}

export const selectRun = (tx: SiteTx, jobId: string, runId: string): Promise<JobRun | undefined> =>
  runs(tx).where('run_id', '=', runId).where('job_id', '=', jobId).executeTakeFirst()

/** Selects for each job, or for one, its newest run that was not skipped. */
export async function selectLastRuns(
  tx: SiteTx,
  jobId?: string,
): Promise<ReadonlyMap<string, LastRun>> {
  const rows = await tx.db
    .selectFrom('data_job as job')
    .innerJoinLateral(
      (from) =>
        from
          .selectFrom('data_job_run as run')
          .select(['run_id', 'status', 'trigger', 'scheduled_for', 'started_at', 'finished_at'])
          .whereRef('run.site_id', '=', 'job.site_id')
          .whereRef('run.job_id', '=', 'job.job_id')
          .where('run.status', '<>', 'skipped')
          .orderBy('run.run_number', 'desc')
          .limit(1)
          .as('last'),
      (join) => join.onTrue(),
    )
    .select([
      'job.job_id as jobId',
      'last.run_id as runId',
      'last.status',
      'last.trigger',
      'last.scheduled_for as scheduledFor',
      'last.started_at as startedAt',
      'last.finished_at as finishedAt',
    ])
    .where('job.site_id', '=', tx.siteId)
    .$if(jobId !== undefined, (query) => query.where('job.job_id', '=', jobId ?? ''))
    .execute()
  return new Map(rows.map(({ jobId: id, ...run }) => [id, run]))
}

/** Selects the run of the job that waits or runs, if any. */
export const selectOpenRun = (tx: SiteTx, jobId: string): Promise<OpenRun | undefined> =>
  tx.db
    .selectFrom('data_job_run')
    .select(['run_id as runId', 'status', 'trigger'])
    .where('site_id', '=', tx.siteId)
    .where('job_id', '=', jobId)
    .where('status', 'in', OPEN)
    .orderBy('run_number')
    .limit(1)
    .executeTakeFirst()

/** Takes up a run that is not over: the next attempt at it. Undefined when there is nothing to do any more. */
export async function updateRunStarted(
  tx: SiteTx,
  runId: string,
  now: Date,
): Promise<{ jobId: string; requestId: string; attempt: number } | undefined> {
  const row = await tx.db
    .updateTable('data_job_run')
    .set({
      status: 'running',
      attempts: sql`attempts + 1`,
      started_at: sql`coalesce(started_at, ${now})`,
    })
    .where('site_id', '=', tx.siteId)
    .where('run_id', '=', runId)
    .where('status', 'in', OPEN)
    .returning(['job_id as jobId', 'request_id as requestId', 'attempts as attempt'])
    .executeTakeFirst()
  return row
}

export async function updateRunOperation(
  tx: SiteTx,
  runId: string,
  operation: string,
): Promise<void> {
  await tx.db
    .updateTable('data_job_run')
    .set({ operation })
    .where('site_id', '=', tx.siteId)
    .where('run_id', '=', runId)
    .execute()
}

export interface AttemptResult {
  readonly status: 'queued' | 'succeeded' | 'failed' | 'timedOut'
  readonly result?: string
  readonly resultBytes?: number
  readonly error?: RunError
}

/** Writes how an attempt ended, unless the run is over or another attempt has begun; without `attempt`, whichever it is. */
export async function updateRunEnded(
  tx: SiteTx,
  run: { readonly runId: string; readonly attempt: number | undefined },
  outcome: AttemptResult,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('data_job_run')
    .set({
      status: outcome.status,
      result: outcome.result ?? null,
      result_bytes: outcome.resultBytes ?? null,
      error: outcome.error === undefined ? null : JSON.stringify(outcome.error),
      finished_at: outcome.status === 'queued' ? null : now,
    })
    .where('site_id', '=', tx.siteId)
    .where('run_id', '=', run.runId)
    .where('status', 'in', OPEN)
    .$if(run.attempt !== undefined, (query) => query.where('attempts', '=', run.attempt ?? 0))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Removes the runs of a job that are over and too old or too many, and skipped ticks for themselves. */
export async function trimRuns(
  tx: SiteTx,
  jobId: string,
  bounds: { readonly kept: number; readonly before: Date },
): Promise<void> {
  await sql`
    delete from data_job_run where site_id = ${tx.siteId} and run_id = any(array(
      select run_id from data_job_run
      where site_id = ${tx.siteId} and run_id in (
        select run_id from (
          select run_id, created_at,
                 row_number() over (partition by status = 'skipped' order by run_number desc) as place
          from data_job_run
          where site_id = ${tx.siteId} and job_id = ${jobId} and status not in ('queued', 'running')
        ) as over
        where place > ${bounds.kept} or created_at < ${bounds.before})
      for update skip locked))`.execute(tx.db)
}

/** Only `insertRun` and `updateRunEnded` write the column `error`. */
const runs = (tx: SiteTx) =>
  tx.db
    .selectFrom('data_job_run')
    .select(COLUMNS)
    .$narrowType<{ error: RunError | null }>()
    .where('site_id', '=', tx.siteId)
