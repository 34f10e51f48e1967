import { setTimeout as delay } from 'node:timers/promises'

import { AppError } from '#base/app-error.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'

import { ClockSteps } from './clock-steps.ts'
import {
  type DueJob,
  claimDue,
  deleteDue,
  selectDueJobs,
  selectSetAhead,
  upsertDue,
} from './due-queries.ts'
import type { JobActivity } from './job-activity.ts'
import { type StoredJob, selectJob } from './queries.ts'
import { hasRunOfTick } from './run-queries.ts'
import type { JobRuns } from './runs.ts'
import { parseSchedule } from './schedules/schedule.ts'
import { type DueTicks, coalesce, nextTick } from './schedules/ticks.ts'

const LOOK_EVERY_MS = 1000
/** Spreads the replicas over the second. */
const MAX_DELAY_MS = 250
const PAGE = 100
/** Transactions at once. */
const CONCURRENT_CLAIMS = 4

interface JobSchedulerDeps extends Pick<PlatformServices, 'database' | 'databaseTime' | 'logger'> {
  readonly runs: JobRuns
  readonly jobActivity: JobActivity
}

/**
 * Turns due ticks into runs. Every replica looks; whoever claims a tick records it, queues its run and sets the next tick in
 * one transaction, so that a tick is one row whichever replica dies when.
 */
export class JobScheduler {
  readonly #deps: JobSchedulerDeps
  readonly #steps = new ClockSteps()

  constructor(deps: JobSchedulerDeps) {
    this.#deps = deps
  }

  /** Looks every second until the signal, then finishes what it has begun. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await delay(untilNextLookMs(), undefined, { signal }).catch(() => {})
      if (!signal.aborted) await this.#look()
    }
  }

  /** Records every tick of every site that is due now. */
  async tick(): Promise<void> {
    const { database, databaseTime } = this.#deps
    const { now, ahead } = await database.withDueJobs(async (tx) => {
      const time = await databaseTime(tx)
      return { now: time, ahead: await selectSetAhead(tx, time, PAGE) }
    })
    this.#tellStep(now)
    await this.#forEach(ahead, (due) => this.#setAgain(due, now))
    let after: DueJob | undefined
    for (;;) {
      const from = after
      const page = await database.withDueJobs((tx) =>
        selectDueJobs(tx, now, { limit: PAGE, after: from }),
      )
      await this.#forEach(page, (due) => this.#claim(due, now))
      after = page.at(-1)
      if (page.length < PAGE) return
    }
  }

  #tellStep(now: Date): void {
    const stepMs = this.#steps.observe(now.getTime(), performance.now())
    if (stepMs !== 0) this.#deps.logger.warn({ stepMs, now }, "the database's clock was set")
  }

  async #look(): Promise<void> {
    try {
      await this.tick()
    } catch (error) {
      this.#deps.logger.warn({ err: error }, 'due jobs not found')
    }
  }

  async #forEach(page: readonly DueJob[], work: (due: DueJob) => Promise<void>): Promise<void> {
    const rest = page.values()
    const workRest = async () => {
      for (const due of rest) await work(due)
    }
    await Promise.all(Array.from({ length: CONCURRENT_CLAIMS }, workRest))
  }

  /** The clock was ahead when the next tick was worked out: it may be hours too late. */
  async #setAgain({ siteId, jobId, dueAt }: DueJob, now: Date): Promise<void> {
    try {
      await this.#deps.database.withSite(siteId, async (tx) => {
        if (!(await claimDue(tx, jobId, dueAt))) return
        const job = await selectJob(tx, jobId)
        const next = job && nextTickOf(job, now)
        // What cannot be worked out any more is told where it falls due.
        await upsertDue(tx, jobId, { dueAt: next ?? dueAt, now })
      })
    } catch (error) {
      this.#deps.logger.error({ err: error, siteId, jobId }, 'next tick not worked out again')
    }
  }

  async #claim(due: DueJob, now: Date): Promise<void> {
    const { siteId, jobId, dueAt } = due
    try {
      await this.#deps.database.withSite(siteId, async (tx) => {
        if (!(await claimDue(tx, jobId, dueAt))) return
        this.#deps.jobActivity.tickDelays.observe(now.getTime() - dueAt.getTime())
        await this.#record(tx, due, now)
      })
    } catch (error) {
      this.#deps.logger.error({ err: error, siteId, jobId }, 'tick not recorded')
    }
  }

  async #record(tx: SiteTx, { jobId, dueAt }: DueJob, now: Date): Promise<void> {
    const job = await selectJob(tx, jobId)
    if (!job) return
    const ticks = dueTicksOf(job, dueAt, now)
    if (ticks instanceof AppError) {
      await deleteDue(tx, jobId)
      const { code, message } = ticks
      const tick = { jobId, scheduledFor: dueAt, missed: 0 }
      return this.#deps.runs.failTick(tx, tick, { code, message })
    }
    const { last, missed, next } = ticks
    await (next === undefined
      ? deleteDue(tx, jobId)
      : upsertDue(tx, jobId, { dueAt: new Date(next), now }))
    const tick = { jobId, scheduledFor: new Date(last), missed }
    // It may have run while the clock was ahead.
    if (await hasRunOfTick(tx, tick)) return
    return this.#deps.runs.queueTick(tx, tick)
  }
}

/** Soon after the next whole second. Never longer, however the clock is set: nobody would look until it is there again. */
const untilNextLookMs = (): number =>
  LOOK_EVERY_MS - (Date.now() % LOOK_EVERY_MS) + Math.random() * MAX_DELAY_MS

/** Undefined when there is none, or when the schedule means nothing any more. */
function nextTickOf({ schedule, scheduledSince }: StoredJob, now: Date): Date | undefined {
  if (schedule === null) return undefined
  try {
    const since = Math.min(scheduledSince.getTime(), now.getTime())
    const next = nextTick(parseSchedule(schedule), now.getTime(), since)
    return next === undefined ? undefined : new Date(next)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** An error when the schedule means nothing any more: a zone that this version of the runtime does not know. */
function dueTicksOf(job: StoredJob, dueAt: Date, now: Date): DueTicks | AppError {
  try {
    const schedule = parseSchedule(job.schedule ?? { cron: '' })
    return coalesce(schedule, {
      due: dueAt.getTime(),
      now: now.getTime(),
      since: job.scheduledSince.getTime(),
    })
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}
