import { setTimeout as delay } from 'node:timers/promises'

import { AppError } from '#base/app-error.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Notifications } from '#platform/postgres/notifications.ts'
import type { PlatformServices } from '#platform/services.ts'

import { ClockSteps } from './clock-steps.ts'
import {
  type DueTick,
  claimDue,
  deleteDue,
  selectDueIds,
  selectDueSites,
  selectNextDue,
  selectSetAhead,
  upsertDue,
} from './due-queries.ts'
import type { JobActivity } from './job-activity.ts'
import { NextLook } from './next-look.ts'
import { type DueJob, type StoredJob, claimDueJobs, selectJob } from './queries.ts'
import type { RunError } from './run-model.ts'
import { selectRunTicks } from './run-queries.ts'
import type { JobRuns, Tick } from './runs.ts'
import { parseSchedule } from './schedules/schedule.ts'
import { type DueTicks, coalesce, nextTick } from './schedules/ticks.ts'

const LOOK_EVERY_MS = 1000
/** Spreads the replicas over the second. */
const MAX_DELAY_MS = 250
const PAGE = 100
/** Those of more sites wait for the next look. */
const MAX_SITES = 10_000
/** Jobs of one site that are turned into runs before the next site's. */
const JOBS_A_TURN = 25
/** Transactions at once. */
const CONCURRENT_CLAIMS = 4

/**
 * Turns due ticks into runs, the sites in turns and in another order at every look. Every replica looks; the one that claims ticks
 * records them, queues their runs and sets the next ticks in one transaction, so that a tick is one row whichever replica dies
 * when.
 */
export class JobScheduler {
  readonly #deps
  readonly #steps = new ClockSteps()
  readonly #nextLook = new NextLook()

  constructor(
    deps: Pick<PlatformServices, 'database' | 'databaseTime' | 'logger'> & {
      readonly runs: JobRuns
      readonly jobActivity: JobActivity
    },
  ) {
    this.#deps = deps
  }

  /** Receives changes of when a job is due. */
  async listen(notifications: Pick<Notifications, 'listen'>): Promise<void> {
    const changed = () => this.#nextLook.changed()
    await notifications.listen('croft_jobs_due', {
      onMessage: changed,
      onDoubt: changed,
      onGap: changed,
    })
  }

  /** Looks within a second of the time at which a job is due until the signal, then finishes what it has begun. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await delay(untilNextLookMs(), undefined, { signal }).catch(() => {})
      const isDue = this.#nextLook.isDue(Date.now(), performance.now())
      if (isDue && !signal.aborted) await this.#look()
    }
  }

  /** Records every tick of every site that is due now. */
  async tick(): Promise<void> {
    const { database, databaseTime } = this.#deps
    const look = this.#nextLook.begin(performance.now())
    const { now, ahead, next } = await database.withDueJobs(async (tx) => {
      const time = await databaseTime(tx)
      const setAhead = await selectSetAhead(tx, time, PAGE)
      return { now: time, ahead: setAhead, next: await selectNextDue(tx) }
    })
    this.#tellStep(now)
    if (ahead.length === 0) {
      this.#nextLook.found(look, now, next)
      if (next === undefined || next > now) return
    }
    await forEach(ahead, (due) => this.#setAgain(due, now))
    const sites = await database.withDueJobs((tx) => selectDueSites(tx, now, MAX_SITES))
    for (let turn = shuffled(sites); turn.length > 0;) {
      const unfinished: string[] = []
      await forEach(turn, async (siteId) => {
        if (await this.#claimTurn(siteId, now)) unfinished.push(siteId)
      })
      turn = unfinished
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

  /** The clock was ahead when the next tick was worked out: it may be hours too late. */
  async #setAgain({ siteId, jobId, dueAt }: DueTick, now: Date): Promise<void> {
    try {
      await this.#deps.database.withSite(siteId, async (tx) => {
        if (!(await claimDue(tx, jobId, dueAt))) return
        const job = await selectJob(tx, jobId)
        const next = job && nextTickOf(job, now)
        // What cannot be computed any more is reported when it falls due.
        await upsertDue(tx, [{ jobId, dueAt: next ?? dueAt }], now)
      })
    } catch (error) {
      this.#deps.logger.error({ err: error, siteId, jobId }, 'next tick not worked out again')
    }
  }

  /** True when the site may have more. */
  async #claimTurn(siteId: string, now: Date): Promise<boolean> {
    try {
      return (await this.#claim(siteId, now, { limit: JOBS_A_TURN })) === JOBS_A_TURN
    } catch (error) {
      this.#deps.logger.error({ err: error, siteId }, 'ticks of a site not recorded together')
      await this.#claimAlone(siteId, now)
      return false
    }
  }

  /** One job that cannot be recorded does not keep the others of its site. */
  async #claimAlone(siteId: string, now: Date): Promise<void> {
    const { database, logger } = this.#deps
    try {
      const jobIds = await database.withSite(siteId, (tx) => selectDueIds(tx, now))
      for (const jobId of jobIds) {
        await this.#claim(siteId, now, { limit: 1, jobId }).catch((error: unknown) =>
          logger.error({ err: error, siteId, jobId }, 'tick not recorded'),
        )
      }
    } catch (error) {
      logger.error({ err: error, siteId }, 'due jobs of a site not found')
    }
  }

  /** Records the ticks that are due and not held by another replica; gives how many. */
  #claim(
    siteId: string,
    now: Date,
    which: { readonly limit: number; readonly jobId?: string },
  ): Promise<number> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      const jobs = await claimDueJobs(tx, now, which)
      if (jobs.length > 0) await this.#record(tx, jobs, now)
      return jobs.length
    })
  }

  async #record(tx: SiteTx, jobs: readonly DueJob[], now: Date): Promise<void> {
    const { jobActivity, runs } = this.#deps
    const ticks: Tick[] = []
    const failed: (Tick & { readonly error: RunError })[] = []
    const next: { readonly jobId: string; readonly dueAt: Date }[] = []
    for (const job of jobs) {
      const { jobId, dueAt } = job
      jobActivity.tickDelays.observe(now.getTime() - dueAt.getTime())
      const due = dueTicksOf(job, now)
      if (due instanceof AppError) {
        const { code, message } = due
        failed.push({ jobId, scheduledFor: dueAt, missed: 0, error: { code, message } })
        continue
      }
      ticks.push({ jobId, scheduledFor: new Date(due.last), missed: due.missed })
      if (due.next !== undefined) next.push({ jobId, dueAt: new Date(due.next) })
    }
    const goesOn = new Set(next.map(({ jobId }) => jobId))
    const over = jobs.map(({ jobId }) => jobId).filter((jobId) => !goesOn.has(jobId))
    await upsertDue(tx, next, now)
    await deleteDue(tx, over)
    await runs.failTicks(tx, failed)
    // They may have run while the clock was ahead.
    const known = await selectRunTicks(tx, ticks)
    await runs.queueTicks(
      tx,
      ticks.filter((tick) => !known.has(tick)),
    )
  }
}

async function forEach<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  const workRest = async () => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: CONCURRENT_CLAIMS }, workRest))
}

/** No site is always the last, and replicas that look at once begin with different ones. */
function shuffled<Item>(items: readonly Item[]): Item[] {
  const keyed = items.map((item): [number, Item] => [Math.random(), item])
  return keyed.toSorted(([a], [b]) => a - b).map(([, item]) => item)
}

/**
 * Soon after the next whole second. Never longer, however the clock is set: otherwise no look happens until the clock is there
 * again.
 */
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
function dueTicksOf(job: DueJob, now: Date): DueTicks | AppError {
  try {
    const schedule = parseSchedule(job.schedule ?? { cron: '' })
    return coalesce(schedule, {
      due: job.dueAt.getTime(),
      now: now.getTime(),
      since: job.scheduledSince.getTime(),
    })
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}
