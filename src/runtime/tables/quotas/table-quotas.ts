import { setTimeout as delay } from 'node:timers/promises'

import { AppError } from '#base/app-error.ts'
import { retry } from '#base/retry.ts'
import type { Queue } from '#platform/queue/queue.ts'
import { tooBusy } from '#runtime/tables/store/conflict-retry.ts'

import { type WriteMeter, type MeteredWrites, QuotaExhausted } from './charge.ts'
import { type Cost, fits, NOTHING, plus } from './cost.ts'
import type { QuotaLease } from './lease.ts'
import { QuotaLeases, type QuotaLeasesDeps, type QuotaDecision } from './leases.ts'
import { selectTableUsage } from './ledger-queries.ts'
import { TableRecounts } from './recounts.ts'

/** A write whose item others change meanwhile may need more each time. */
const MAX_ATTEMPTS = 10
/** How long one waits, in steps, where only writes that still run stand in the way. */
const WAITS_MS = [5, 10, 25, 50, 100, 200, 300]
/** A site that is close to a limit is counted, unless it was lately. */
const COUNTED_LATELY_MS = 3_600_000
/** From so many on, counting takes a while. */
const MANY_ITEMS = 50_000

export interface TableUsage {
  readonly usedBytes: number
  readonly usedItems: number
}

/**
 * What the tables of each site hold, and the quota on it. A process leases a share for some writes from its site's ledger and
 * spends it in memory, so a write asks nobody. Where it did not look at what it replaces it is charged as if nothing had been
 * there; close to a limit writes look, and before one is refused everything is counted anew, if that was not done just now.
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

  /** Leaves that count to whoever asks next. */
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

  /** False when the write has to look at what is there before anybody can say whether it grows too much. */
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
