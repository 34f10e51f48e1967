import { setTimeout as delay, setImmediate as untilIdle } from 'node:timers/promises'

import { AppError } from '#base/app-error.ts'
import { retry } from '#base/retry.ts'
import { SingleFlight } from '#base/single-flight.ts'
import { withTimeout } from '#base/with-timeout.ts'
import type { Queue } from '#platform/queue/queue.ts'
import type { PlatformServices } from '#platform/services.ts'
import { tooBusy } from '#runtime/tables/store/conflict-retry.ts'

import { type WriteMeter, type MeteredWrites, QuotaExhausted } from './charge.ts'
import { type Cost, fits, NOTHING, plus } from './cost.ts'
import type { QuotaLease } from './lease.ts'
import { QuotaLeases, type QuotaLeasesDeps, type QuotaDecision } from './leases.ts'
import {
  selectTableUsage,
  beginCount,
  countBatch,
  endRecountPlan,
  type LastRecount,
  markChanged,
  planRecount,
} from './ledger-queries.ts'

/** A write whose item others change may need more each time. */
const MAX_ATTEMPTS = 10

/** How long one waits, in steps, where only writes that still run prevent it. */
const WAITS_MS = [5, 10, 25, 50, 100, 200, 300]

/** A site that is close to a limit is counted, unless it was lately. */
const COUNTED_LATELY_MS = 3_600_000

/** From so many on, counting takes a while. */
const MANY_ITEMS = 50_000

/** Items that one statement counts. */
const ITEMS_AT_ONCE = 5000

/** How long a caller waits for a count. */
const PATIENCE_MS = 2000

/** From one count with a waiting caller to the next: so long, and twenty times as long as it took. */
const REST_MS = 1000

/** After one that may have said too much. */
const SHORT_REST_MS = 100
const REST_FACTOR = 20
const RECOUNT_SECONDS = 24 * 3600

export interface TableUsage {
  readonly usedBytes: number
  readonly usedItems: number
}

/**
 * What the tables of each site hold, and the quota on it. A process leases a share for some writes from its site's ledger and
 * spends it in memory, so a write needs no query. Where it did not look at what it replaces it is charged as if nothing had been
 * there; close to a limit writes look, and before one is refused everything is counted again, if that was not done just now.
 */
export class TableQuotas implements MeteredWrites, AsyncDisposable {
  readonly #deps
  readonly #recounts: TableRecounts
  readonly #leases: QuotaLeases

  constructor(
    deps: QuotaLeasesDeps & {
      readonly queue: Queue
    },
  ) {
    this.#deps = deps
    this.#recounts = new TableRecounts(deps)
    this.#leases = new QuotaLeases(deps, async (siteId, { isPlanned }) => {
      if (!isPlanned) await this.#recounts.plan(siteId)
    })
    deps.queue.handle('table-recount', (job, signal) => this.#recounts.daily(job, signal))
  }

  async run<Result>(
    siteId: string,
    write: (meter: WriteMeter) => Promise<Result>,
  ): Promise<Result> {
    const lease = this.#leases.leaseOf(siteId)
    lease.enter()
    try {
      if (!lease.isOpen) await this.#leases.open(siteId, lease)
      return await this.#run(siteId, lease, write)
    } finally {
      lease.leave()
      if (lease.nearLimit && lease.hasUnreported) this.#leases.reportSoon(siteId)
    }
  }

  /** What tables hold now; of a site that takes long to count, at least that much. */
  async usage(siteId: string): Promise<TableUsage> {
    await this.#leases.report(siteId)
    const read = () => this.#deps.database.withSite(siteId, selectTableUsage)
    let usage = await read()
    if (usage?.isStale) {
      await this.#recounts.renew(siteId, usage)
      usage = await read()
    }
    return { usedBytes: usage?.usedBytes ?? 0, usedItems: usage?.usedItems ?? 0 }
  }

  /** After items were removed by others than writers. */
  async recount(siteId: string, signal: AbortSignal): Promise<void> {
    await this.#recounts.changed(siteId)
    await this.#recounts.run(siteId, signal)
  }

  /** Leaves that count to the next caller. */
  changed(siteId: string): Promise<void> {
    return this.#recounts.changed(siteId)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#recounts.stop()
    await this.#leases[Symbol.asyncDispose]()
  }

  #run<Result>(
    siteId: string,
    lease: QuotaLease,
    write: (meter: WriteMeter) => Promise<Result>,
  ): Promise<Result> {
    let reservation = lease.reserve(lease.nearLimit)
    let requested: Cost | undefined
    const attempt = async (): Promise<Result> => {
      if (requested !== undefined) {
        const { exact } = reservation
        const granted = await this.#grant(siteId, lease, { requested, exact })
        reservation = lease.reserve(exact || !granted, granted ? requested : NOTHING)
      }
      try {
        const result = await write(reservation)
        reservation.commit()
        return result
      } catch (error) {
        reservation.rollBack(error)
        if (error instanceof QuotaExhausted) ({ requested } = error)
        throw error
      }
    }
    return retry(attempt, {
      attempts: MAX_ATTEMPTS,
      isRetryable: (error) => error instanceof QuotaExhausted,
      exhausted: tooBusy,
    })
  }

  /** False when the write has to look at what is there to know whether it grows too much. */
  async #grant(
    siteId: string,
    lease: QuotaLease,
    { requested, exact }: { readonly requested: Cost; readonly exact: boolean },
  ): Promise<boolean> {
    let refusal = await this.#ask(siteId, lease, requested)
    if (refusal === undefined) return true
    if (!exact) return false
    for (const wait of WAITS_MS) {
      if (!fits(plus(refusal.used, requested), refusal.limits)) break
      await delay(wait)
      refusal = await this.#ask(siteId, lease, requested)
      if (refusal === undefined) return true
    }
    const state = await this.#recounts.renew(siteId, refusal)
    if (state === 'counting') throw beingCounted()
    if (state === 'counted') refusal = await this.#ask(siteId, lease, requested)
    if (refusal === undefined) return true
    throw quotaExceeded(refusal, requested)
  }

  /** Undefined when it was granted. */
  async #ask(
    siteId: string,
    lease: QuotaLease,
    requested: Cost,
  ): Promise<QuotaDecision | undefined> {
    const decision = await this.#leases.request(siteId, lease, requested)
    if (decision === 'held') return undefined
    if (lease.nearLimit) this.#approach(siteId, decision)
    return decision.granted ? undefined : decision
  }

  /** Counts ahead what would keep a writer waiting. */
  #approach(siteId: string, { used, countedAgoMs }: QuotaDecision): void {
    const lately = countedAgoMs !== null && countedAgoMs < COUNTED_LATELY_MS
    if (used.items < MANY_ITEMS || lately) return
    void this.#recounts.begin(siteId)
  }
}

const beingCounted = (): AppError =>
  new AppError(
    'ServiceUnavailable',
    'The tables of this site are being counted, because they are close to a limit: try again in a few seconds',
    { retryAfterSeconds: 5 },
  )

function quotaExceeded({ taken, limits }: QuotaDecision, requested: Cost): AppError {
  const over = requested.bytes > 0 && taken.bytes + requested.bytes > limits.bytes
  const [name, unit] = over
    ? (['tableBytes', 'bytes'] as const)
    : (['tableItems', 'items'] as const)
  const limit = { name, value: limits[unit], used: taken[unit], asked: requested[unit] }
  return new AppError(
    'QuotaExceeded',
    `The tables of this site may hold ${limit.value} ${unit} (limit "${name}"): ${limit.used} are used, and this asks for ${limit.asked} more`,
    { fields: { limit } },
  )
}

/** Counts what the tables of a site hold, in steps, while they are in use. */
class TableRecounts {
  readonly #deps
  readonly #flights = new SingleFlight<string, void>()
  readonly #stop = new AbortController()

  constructor(deps: Pick<PlatformServices, 'database' | 'queue' | 'logger'>) {
    this.#deps = deps
  }

  /** Goes on where a count that was interrupted stopped. */
  async run(siteId: string, signal: AbortSignal): Promise<void> {
    const { database } = this.#deps
    await beginCount(database, siteId)
    for (;;) {
      signal.throwIfAborted()
      if (await countBatch(database, siteId, ITEMS_AT_ONCE)) return
      await untilIdle()
    }
  }

  /**
   * Counts again for a waiting caller. `recent`: it was counted just now. `counting`: that takes too long to wait for, and goes
   * on.
   */
  async renew(siteId: string, last: LastRecount): Promise<'counted' | 'recent' | 'counting'> {
    const rest = restOf(last)
    if (rest > (last.countedAlone ? 0 : SHORT_REST_MS)) return 'recent'
    if (rest > 0) await delay(rest)
    return withTimeout(this.begin(siteId), PATIENCE_MS, () => 'counting' as const)
  }

  /** Never fails: an error is logged, and another process finishes the count. */
  async begin(siteId: string): Promise<'counted' | 'counting'> {
    try {
      await this.#flights.run(siteId, () => this.run(siteId, this.#stop.signal))
      return 'counted'
    } catch (error) {
      if (!this.#stop.signal.aborted) {
        this.#deps.logger.warn({ siteId, err: error }, 'the tables of a site were not counted')
      }
      return 'counting'
    }
  }

  /** The handler of the queue `table-recount`: once a day, on sites where something is written. */
  async daily({ siteId }: { readonly siteId: string }, signal: AbortSignal): Promise<void> {
    const { database } = this.#deps
    const usage = await database.withSite(siteId, selectTableUsage)
    if (usage?.isStale) await this.run(siteId, signal)
    await database.withSite(siteId, endRecountPlan)
  }

  async plan(siteId: string): Promise<void> {
    const { database, queue } = this.#deps
    await database.withSite(siteId, async (tx) => {
      if (!(await planRecount(tx, RECOUNT_SECONDS))) return
      const options = { singletonKey: siteId, startAfterSeconds: RECOUNT_SECONDS }
      await queue.enqueue(tx, 'table-recount', { siteId }, options)
    })
  }

  /** Items went away that no write removed. */
  async changed(siteId: string): Promise<void> {
    await this.#deps.database.withSite(siteId, markChanged)
  }

  stop(): void {
    this.#stop.abort()
  }
}

/** Milliseconds until the site may be counted again. */
function restOf({ countTookMs, countedAgoMs, countedAlone }: LastRecount): number {
  if (countTookMs === null || countedAgoMs === null) return 0
  const rest = countedAlone ? REST_MS : SHORT_REST_MS
  return Math.max(rest, REST_FACTOR * countTookMs) - countedAgoMs
}
