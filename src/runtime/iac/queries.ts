import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import type { IacJob, IacJobOrder, IacStatus } from './model.ts'

const COLUMNS = [
  'job_id as jobId',
  'job_number as number',
  'mode',
  'source',
  'profile_name as profileName',
  'deployment_id as deploymentId',
  'persisted',
  'agreed',
  'requested_by as requestedBy',
  'status',
  'attempts',
  'error',
  'created_at as createdAt',
  'started_at as startedAt',
  'finished_at as finishedAt',
] as const

export async function insertIacJob(
  tx: SiteTx,
  job: IacJobOrder & Pick<IacJob, 'jobId' | 'agreed'> & { readonly sealed: Buffer },
  now: Date,
): Promise<void> {
  await tx.db
    .insertInto('iac_job')
    .values({
      site_id: tx.siteId,
      job_id: job.jobId,
      mode: job.mode,
      source: job.source,
      profile_name: job.profileName,
      deployment_id: job.deploymentId,
      persisted: job.persisted,
      agreed: [...job.agreed],
      requested_by: job.requestedBy,
      sealed: job.sealed,
      status: 'queued',
      error: null,
      created_at: now,
      started_at: null,
      finished_at: null,
    })
    .execute()
}

export function selectIacJob(tx: SiteTx, jobId: string): Promise<IacJob | undefined> {
  return jobs(tx).where('job_id', '=', jobId).executeTakeFirst()
}

/** Newest first. `after` is a job's number. */
export function selectIacJobs(
  tx: SiteTx,
  page: { readonly limit: number; readonly after: string | undefined },
): Promise<IacJob[]> {
  return jobs(tx)
    .$if(page.after !== undefined, (query) => query.where('job_number', '<', page.after ?? ''))
    .orderBy('job_number', 'desc')
    .limit(page.limit)
    .execute()
}

/** The one that runs, or the oldest that waits. */
export function selectNextJob(tx: SiteTx): Promise<IacJob | undefined> {
  return jobs(tx)
    .where('status', 'in', ['queued', 'running'])
    .orderBy(sql`status <> 'running'`)
    .orderBy('job_number')
    .limit(1)
    .executeTakeFirst()
}

export function selectNewestOfDeployment(
  tx: SiteTx,
  deploymentId: string,
): Promise<IacJob | undefined> {
  return jobs(tx)
    .where('deployment_id', '=', deploymentId)
    .orderBy('job_number', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Counts the jobs that wait or run. */
export async function countOpenJobs(tx: SiteTx): Promise<number> {
  const { count } = await tx.db
    .selectFrom('iac_job')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('site_id', '=', tx.siteId)
    .where('status', 'in', ['queued', 'running'])
    .executeTakeFirstOrThrow()
  return count
}

/** Returns null once the job has ended. */
export async function selectSealed(tx: SiteTx, number: string): Promise<Buffer | null> {
  const row = await tx.db
    .selectFrom('iac_job')
    .select('sealed')
    .where('site_id', '=', tx.siteId)
    .where('job_number', '=', number)
    .executeTakeFirst()
  return row?.sealed ?? null
}

/** Counts a worker that takes the job up. */
export async function updateStarted(tx: SiteTx, number: string, now: Date): Promise<void> {
  await tx.db
    .updateTable('iac_job')
    .set({
      status: 'running',
      attempts: sql`attempts + 1`,
      started_at: sql`coalesce(started_at, ${now})`,
    })
    .where('site_id', '=', tx.siteId)
    .where('job_number', '=', number)
    .execute()
}

/** The job has come further: earlier workers that failed count no more. */
export async function resetAttempts(tx: SiteTx, number: string): Promise<void> {
  await tx.db
    .updateTable('iac_job')
    .set({ attempts: 0 })
    .where('site_id', '=', tx.siteId)
    .where('job_number', '=', number)
    .where('attempts', '>', 0)
    .execute()
}

/** Drops the sealed definition. */
export async function updateFinished(
  tx: SiteTx,
  number: string,
  end: { readonly status: IacStatus; readonly error: string | null; readonly at: Date },
): Promise<void> {
  await tx.db
    .updateTable('iac_job')
    .set({ status: end.status, error: end.error, finished_at: end.at, sealed: null })
    .where('site_id', '=', tx.siteId)
    .where('job_number', '=', number)
    .execute()
}

/** Deletes the jobs that ended before `before`, and those with `kept` newer ones. */
export async function deleteOldJobs(tx: SiteTx, kept: number, before: Date): Promise<void> {
  await sql`delete from iac_job
    where site_id = ${tx.siteId} and status not in ('queued', 'running')
      and (finished_at < ${before} or job_number <= (
        select job_number from iac_job
        where site_id = ${tx.siteId} and status not in ('queued', 'running')
        order by job_number desc offset ${kept} limit 1))`.execute(tx.db)
}

const jobs = (tx: SiteTx) =>
  tx.db.selectFrom('iac_job').select(COLUMNS).where('site_id', '=', tx.siteId)
