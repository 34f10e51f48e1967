import { AppError, notFound } from '#base/app-error.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import type { SiteAudit } from '#identity/security-events/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { LogRecord } from '#runtime/logs/model.ts'
import type { RuntimeLogs } from '#runtime/logs/runtime-logs.ts'
import type { IdempotentAnswers, RepeatableRequest } from '#sites/idempotency/idempotent-answers.ts'

import { lockJob, lockJobsOf, selectJob } from './queries.ts'
import {
  SCHEDULE_TRIGGER,
  type JobRun,
  type OpenRun,
  type RunError,
  overlapOf,
} from './run-model.ts'
import {
  type NewRun,
  insertRuns,
  selectOpenRun,
  selectOpenRuns,
  selectRun,
  selectRuns,
  trimRuns,
} from './run-queries.ts'

/** Runs that are kept of each job, beside as many skipped ticks; runs that are not over are never removed. */
const KEPT_RUNS = 100
const KEPT_MS = 30 * 24 * 3600 * 1000
const MAX_LOG_LINES = 200

export interface StartedRun {
  readonly jobId: string
  readonly runId: string
  readonly status: 'started'
}

/** A tick, and those before it that no worker ran. */
export interface Tick {
  readonly jobId: string
  readonly scheduledFor: Date
  readonly missed: number
}

export interface RunWithLog {
  readonly run: JobRun
  /** In the order in which they were printed; the last 200. */
  readonly log: readonly LogRecord[]
}

/** What became of a site's jobs: each start and each tick is one run. */
export class JobRuns {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'queue' | 'clock' | 'ids'> & {
      readonly runtimeLogs: Pick<RuntimeLogs, 'list'>
      readonly idempotentAnswers: IdempotentAnswers
    },
  ) {
    this.#deps = deps
  }

  /** Runs the job now; rejects with `JobOverlap` while a run of it waits or runs. `trigger` says who or what asked. */
  start(
    siteId: string,
    start: { readonly jobId: string; readonly trigger: string; readonly audit: SiteAudit },
    repeat: RepeatableRequest | undefined,
  ): Promise<StartedRun> {
    return this.#deps.database.withSite(siteId, (tx) => {
      const work = async () => {
        const run = await this.#start(tx, start.jobId, start.trigger)
        const { jobId, runId } = run
        await start.audit(tx, { event: 'job.started', detail: { jobId, runId } })
        return run
      }
      return repeat === undefined ? work() : this.#deps.idempotentAnswers.once(tx, repeat, work)
    })
  }

  /** Newest first, skipped ticks among them. */
  async list(siteId: string, jobId: string, page: PageRequest): Promise<PageRows<JobRun>> {
    const rows = await this.#deps.database.withSite(siteId, async (tx) => {
      if (!(await selectJob(tx, jobId))) throw notFound('Job', jobId)
      return selectRuns(tx, jobId, { limit: page.limit + 1, before: page.after })
    })
    return pageRows(rows, page.limit, ({ runNumber }) => runNumber)
  }

  async get(siteId: string, jobId: string, runId: string): Promise<RunWithLog> {
    const run = await this.#deps.database.withSite(siteId, (tx) => selectRun(tx, jobId, runId))
    if (!run) throw notFound('JobRun', runId)
    const filter = { requestId: run.requestId }
    const page = { limit: MAX_LOG_LINES, after: undefined }
    const { items } = await this.#deps.runtimeLogs.list(siteId, filter, page)
    return { run, log: items.toReversed() }
  }

  /**
   * Runs the ticks, each of another job, right after this transaction; skips and records one while a run of its job waits or
   * runs.
   */
  async queueTicks(tx: SiteTx, ticks: readonly Tick[]): Promise<void> {
    if (ticks.length === 0) return
    // Held, as by those who start the job by hand.
    await lockJobsOf(
      tx,
      ticks.map(({ jobId }) => jobId),
    )
    const open = await selectOpenRuns(tx)
    const runs = ticks.map((tick): NewRun => {
      const other = open.find(({ jobId }) => jobId === tick.jobId)
      const run = this.#tickRun(tick)
      return other === undefined
        ? { ...run, status: 'queued' }
        : { ...run, status: 'skipped', error: overlapOf(other) }
    })
    await this.#add(tx, runs)
    const jobs = runs
      .filter(({ status }) => status === 'queued')
      .map(({ runId }) => ({ job: { siteId: tx.siteId, runId } }))
    await this.#deps.queue.enqueueAll(tx, 'job-tick', jobs)
  }

  /** Records that ticks could not be run, and why. */
  async failTicks(
    tx: SiteTx,
    ticks: readonly (Tick & { readonly error: RunError })[],
  ): Promise<void> {
    const failed = ticks.map(({ error, ...tick }): NewRun => ({
      ...this.#tickRun(tick),
      status: 'failed',
      error,
    }))
    await this.#add(tx, failed)
  }

  async #start(tx: SiteTx, jobId: string, trigger: string): Promise<StartedRun> {
    // Held, so that of those who start it at once the later ones see the run of the first.
    if (!(await lockJob(tx, jobId))) throw notFound('Job', jobId)
    const open = await selectOpenRun(tx, jobId)
    if (open !== undefined) throw overlapping(open)
    const run = this.#newRun(jobId, trigger)
    await this.#add(tx, [{ ...run, status: 'queued' }])
    const { siteId } = tx
    const { runId } = run
    await this.#deps.queue.enqueue(tx, 'job-run', { siteId, runId }, { singletonKey: runId })
    return { jobId, runId: run.runId, status: 'started' }
  }

  async #add(tx: SiteTx, runs: readonly NewRun[]): Promise<void> {
    if (runs.length === 0) return
    await insertRuns(tx, runs)
    const before = new Date(this.#deps.clock.now().getTime() - KEPT_MS)
    const jobIds = runs.map(({ jobId }) => jobId)
    await trimRuns(tx, jobIds, { kept: KEPT_RUNS, before })
  }

  #tickRun({ jobId, scheduledFor, missed }: Tick) {
    return { ...this.#newRun(jobId, SCHEDULE_TRIGGER), scheduledFor, missed }
  }

  #newRun(jobId: string, trigger: string) {
    return {
      runId: this.#deps.ids.named('run'),
      jobId,
      trigger,
      requestId: this.#deps.ids.uuid(),
      createdAt: this.#deps.clock.now(),
    }
  }
}

function overlapping(open: OpenRun): AppError {
  const { message } = overlapOf(open)
  const { runId, status: runStatus } = open
  return new AppError('JobOverlap', `${message}. Start the job again when it is over`, {
    fields: { runId, runStatus },
  })
}
