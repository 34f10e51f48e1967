import { isDeepStrictEqual } from 'node:util'

import { type FieldFault, invalid, notFound } from '#base/app-error.ts'
import { changedValues } from '#base/changed-values.ts'
import type { SiteAudit } from '#identity/security-events/model.ts'
import type { AuditDetail } from '#platform/postgres/audit.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import { parseSchedule } from '#runtime/jobs/schedules/schedule.ts'
import { nextTick } from '#runtime/jobs/schedules/ticks.ts'
import type { Operations } from '#runtime/operations/service.ts'

import { deleteDue, lockDue, upsertDue } from './due-queries.ts'
import {
  type Job,
  type JobDefinition,
  MAX_JOBS,
  parseJob,
  parseJobId,
  sameJob,
  sameSchedule,
} from './model.ts'
import {
  type ListedJob,
  type StoredJob,
  countJobs,
  deleteJob,
  lockJobs,
  renameJob,
  selectJob,
  selectJobs,
  selectJobsCalling,
  selectListedJobs,
  upsertJob,
} from './queries.ts'
import type { LastRun } from './run-model.ts'
import { selectLastRuns } from './run-queries.ts'

/** Bounds the payloads in a list; a longer one is read with its job. */
const MAX_LISTED_PAYLOAD_BYTES = 8 * 1024

/** With the newest run of the job that was not skipped. */
type WithLastRun<Kind> = Kind & { readonly lastRun: LastRun | null }

export type JobWithLastRun = WithLastRun<Job>

export type ListedJobWithLastRun = WithLastRun<ListedJob>

/** The visitors of a site, as jobs name them. */
export interface JobUsers {
  exists(tx: SiteTx, username: string): Promise<boolean>
}

type JobFacts = Omit<JobDefinition, 'payload'>

/** Calls of a site's operations that a schedule, or a person, starts. */
export class Jobs {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock' | 'databaseTime' | 'notifications'> & {
      readonly operations: Operations
      readonly visitors: JobUsers
    },
  ) {
    this.#deps = deps
  }

  /** By id. */
  list(siteId: string): Promise<ListedJobWithLastRun[]> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      const lastRuns = await selectLastRuns(tx)
      const jobs = await selectListedJobs(tx, MAX_LISTED_PAYLOAD_BYTES)
      return jobs.map((job) => withLastRun(job, lastRuns))
    })
  }

  get(siteId: string, jobId: string): Promise<JobWithLastRun> {
    return this.#deps.database.withSite(siteId, (tx) => this.#get(tx, jobId))
  }

  /** Creates the job, or replaces the whole of it; its runs stay. */
  put(siteId: string, jobId: string, value: unknown, audit: SiteAudit): Promise<JobWithLastRun> {
    const job = this.check(value)
    return this.#deps.database.withSite(siteId, async (tx) => {
      await this.write(tx, jobId, job, { audit })
      return this.#get(tx, jobId)
    })
  }

  /** Removes the job with its schedule and its runs. A run that has begun goes on and leaves no trace. */
  remove(siteId: string, jobId: string, audit: SiteAudit): Promise<void> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      if (!(await this.delete(tx, jobId, audit))) throw notFound('Job', jobId)
    })
  }

  /** The job that a body means; throws a `ValidationError` that names each wrong field. */
  check(value: unknown): JobDefinition {
    return parseJob(value, this.#deps.clock.now())
  }

  /** All of them by id; there are at most 200. */
  all(tx: SiteTx): Promise<Job[]> {
    return selectJobs(tx)
  }

  /** A job that is as asked for already is not touched; the schedule of a changed one goes on unless it changed itself. The caller deletes `toDelete` others. */
  async write(
    tx: SiteTx,
    jobId: string,
    job: JobDefinition,
    { audit, toDelete = 0 }: { readonly audit: SiteAudit; readonly toDelete?: number },
  ): Promise<'create' | 'update' | 'none'> {
    parseJobId(jobId)
    await lockJobs(tx)
    const current = await selectJob(tx, jobId)
    if (current && sameJob(current, job)) return 'none'
    if (!current && (await countJobs(tx)) - toDelete >= MAX_JOBS) {
      throw invalid('jobId', `a site holds at most ${MAX_JOBS} jobs: delete one first`)
    }
    if (!(await this.#deps.operations.find(tx, job.operation))) {
      throw invalid('operation', `operation "${job.operation}" does not exist`)
    }
    const fault = await this.userFault(tx, job)
    if (fault) throw invalid(fault.field, fault.message)
    await this.#store(tx, jobId, job, current)
    if (current) {
      await audit(tx, { event: 'job.changed', detail: jobChange(jobId, current, job) })
      return 'update'
    }
    await audit(tx, { event: 'job.created', detail: jobDetail(jobId, job) })
    return 'create'
  }

  /** Its runs and its schedule go on under the new name. */
  async rename(
    tx: SiteTx,
    names: { readonly from: string; readonly to: string },
    audit: SiteAudit,
  ): Promise<void> {
    parseJobId(names.to)
    await lockJobs(tx)
    // First, as a tick takes it first.
    await lockDue(tx, names.from)
    await renameJob(tx, names)
    const detail = { jobId: names.to, jobIdBefore: names.from }
    await audit(tx, { event: 'job.changed', detail })
  }

  /** What is wrong with the user that a job is to run as. One who is deleted later makes its runs fail. */
  async userFault(
    tx: SiteTx,
    { auth }: Pick<JobDefinition, 'auth'>,
  ): Promise<FieldFault | undefined> {
    if (auth.mode === 'system' || (await this.#deps.visitors.exists(tx, auth.username)))
      return undefined
    const message = `user "${auth.username}" does not exist among the site's visitors`
    return { field: 'auth.username', message }
  }

  /** Works out when each job is due: for those that came with their site from elsewhere. */
  async scheduleAll(tx: SiteTx): Promise<void> {
    const now = await this.#deps.databaseTime(tx)
    const ticks = (await selectJobs(tx)).flatMap(({ jobId, scheduledSince, ...job }) => {
      const dueAt = nextRunOf(job, now, scheduledSince)
      return dueAt === undefined ? [] : [{ jobId, dueAt }]
    })
    await this.#setDue(tx, ticks, now)
  }

  /** Whether it was there. */
  async delete(tx: SiteTx, jobId: string, audit: SiteAudit): Promise<boolean> {
    // First, as a tick takes it first.
    await deleteDue(tx, [jobId])
    const job = await deleteJob(tx, jobId)
    if (!job) return false
    await audit(tx, { event: 'job.deleted', detail: jobDetail(jobId, job) })
    return true
  }

  /** Names of the jobs that call an operation; locks the site's jobs until the transaction ends. */
  async calling(tx: SiteTx, operation: string): Promise<string[]> {
    await lockJobs(tx)
    return selectJobsCalling(tx, operation)
  }

  async #get(tx: SiteTx, jobId: string): Promise<JobWithLastRun> {
    const job = await selectJob(tx, jobId)
    if (!job) throw notFound('Job', jobId)
    return withLastRun(job, await selectLastRuns(tx, jobId))
  }

  async #store(
    tx: SiteTx,
    jobId: string,
    job: JobDefinition,
    current: StoredJob | undefined,
  ): Promise<void> {
    const now = await this.#deps.databaseTime(tx)
    const goesOn = current !== undefined && sameSchedule(current, job)
    const scheduledSince = goesOn ? current.scheduledSince : now
    if (!goesOn) await lockDue(tx, jobId)
    await upsertJob(tx, jobId, { ...job, scheduledSince }, now)
    if (goesOn) return
    const next = nextRunOf(job, now)
    await (next === undefined
      ? deleteDue(tx, [jobId])
      : this.#setDue(tx, [{ jobId, dueAt: next }], now))
  }

  async #setDue(
    tx: SiteTx,
    ticks: readonly { readonly jobId: string; readonly dueAt: Date }[],
    now: Date,
  ): Promise<void> {
    if (ticks.length === 0) return
    await upsertDue(tx, ticks, now)
    await this.#deps.notifications.notify(tx, 'croft_jobs_due', { siteId: tx.siteId })
  }
}

function nextRunOf(
  { schedule, enabled }: Pick<JobDefinition, 'schedule' | 'enabled'>,
  now: Date,
  since = now,
): Date | undefined {
  if (schedule === null || !enabled) return undefined
  const next = nextTick(parseSchedule(schedule), now.getTime(), since.getTime())
  return next === undefined ? undefined : new Date(next)
}

const withLastRun = <Kind extends Job>(
  job: Kind,
  lastRuns: ReadonlyMap<string, LastRun>,
): WithLastRun<Kind> => ({ ...job, lastRun: lastRuns.get(job.jobId) ?? null })

/** For the audit trail: what the job calls, when, and as which user. Its payload may hold anything. */
const jobDetail = (jobId: string, job: JobFacts): AuditDetail => ({
  jobId,
  ...valuesOf(job),
})

/** For the audit trail: what differs; of the payload only that it does. */
const jobChange = (jobId: string, before: JobDefinition, after: JobDefinition): AuditDetail => ({
  jobId,
  ...changedValues(valuesOf(before), valuesOf(after)),
  ...(!isDeepStrictEqual(before.payload, after.payload) && { changed: 'payload' }),
})

const valuesOf = ({ operation, schedule, auth, enabled }: JobFacts) => ({
  operation,
  ...(schedule !== null && {
    cron: schedule.cron,
    ...(schedule.timezone !== undefined && { timezone: schedule.timezone }),
  }),
  runAs: auth.mode === 'user' ? auth.username : auth.mode,
  enabled,
})
