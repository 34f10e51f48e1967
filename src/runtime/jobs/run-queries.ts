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

export async function insertRuns(tx: SiteTx, runs: readonly NewRun[]): Promise<void> {
  if (runs.length === 0) return
  await tx.db
    .insertInto('data_job_run')
    .values(
      runs.map((run) => ({
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
      })),
    )
    .execute()
}

/** Those of these ticks that have a run already. */
export async function selectRunTicks<Tick extends { jobId: string; scheduledFor: Date }>(
  tx: SiteTx,
  ticks: readonly Tick[],
): Promise<ReadonlySet<Tick>> {
  const rows = await tx.db
    .selectFrom('data_job_run')
    .select(['job_id', 'scheduled_for'])
    .where('site_id', '=', tx.siteId)
    .where((where) =>
      where.or(
        ticks.map(({ jobId, scheduledFor }) =>
          where.and([where('job_id', '=', jobId), where('scheduled_for', '=', scheduledFor)]),
        ),
      ),
    )
    .execute()
  const known = new Set(rows.map((row) => `${row.scheduled_for?.getTime()} ${row.job_id}`))
  return new Set(ticks.filter((tick) => known.has(`${tick.scheduledFor.getTime()} ${tick.jobId}`)))
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

/** Selects the runs of the site that wait or run. */
export const selectOpenRuns = (tx: SiteTx): Promise<(OpenRun & { readonly jobId: string })[]> =>
  tx.db
    .selectFrom('data_job_run')
    .select(['job_id as jobId', 'run_id as runId', 'status', 'trigger'])
    .where('site_id', '=', tx.siteId)
    .where('status', 'in', OPEN)
    .execute()

/** Removes the runs of each job that are over and too old or too many, and skipped ticks for themselves. */
export async function trimRuns(
  tx: SiteTx,
  jobIds: readonly string[],
  bounds: { readonly kept: number; readonly before: Date },
): Promise<void> {
  await sql`
    delete from data_job_run where site_id = ${tx.siteId} and run_id = any(array(
      select run_id from data_job_run
      where site_id = ${tx.siteId} and run_id in (
        select run_id from (
          select run_id, created_at,
                 row_number() over (partition by job_id, status = 'skipped' order by run_number desc) as place
          from data_job_run
          where site_id = ${tx.siteId} and job_id = any(${jobIds}) and status not in ('queued', 'running')
        ) as over
        where place > ${bounds.kept} or created_at < ${bounds.before})
      for update skip locked))`.execute(tx.db)
}

/** Only `insertRuns` and `RunAttempts` write the column `error`. */
const runs = (tx: SiteTx) =>
  tx.db
    .selectFrom('data_job_run')
    .select(COLUMNS)
    .$narrowType<{ error: RunError | null }>()
    .where('site_id', '=', tx.siteId)
