import { setTimeout as delay } from 'node:timers/promises'

import { AppError } from '#base/app-error.ts'
import type { Queue } from '#platform/queue/queue.ts'
import { tooBusy } from '#runtime/tables/store/conflict-retry.ts'

import { type WriteMeter, type MeteredWrites, QuotaExhausted } from './charge.ts'
import { type Cost, fits, NOTHING, plus } from './cost.ts'
import type { QuotaLease } from './lease.ts'
import { QuotaLeases, type QuotaLeasesDeps, type QuotaDecision } from './leases.ts'
import { selectTableUsage } from './ledger-queries.ts'
import { TableRecounts } from './recounts.ts'

/** A write whose item others change meanwhile may need more room each time. */
const MOST_TRIES = 10
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

export interface TableQuotasDeps extends QuotaLeasesDeps {
  readonly queue: Queue
}

/**
 * What the tables of each site hold, and the quota on it. A process takes room for some writes from its site's account and
 * spends it in memory, so a write asks nobody. Where it did not look at what it replaces it is charged as if nothing had been
 * there; close to a limit writes look, and before one is refused everything is counted anew, if that was not done just now.
 */
export class TableQuotas implements MeteredWrites, AsyncDisposable {
  readonly #deps: TableQuotasDeps
  readonly #counts: TableRecounts
  readonly #rooms: QuotaLeases

  constructor(deps: TableQuotasDeps) {
    this.#deps = deps
    this.#counts = new TableRecounts(deps)
    this.#rooms = new QuotaLeases(deps, async (siteId, { isPlanned }) => {
      if (!isPlanned) await this.#counts.plan(siteId)
    })
    deps.queue.handle('table-recount', (job, signal) => this.#counts.daily(job, signal))
  }

  async run<Result>(
    siteId: string,
    write: (charge: WriteMeter) => Promise<Result>,
  ): Promise<Result> {
    const room = this.#rooms.leaseOf(siteId)
    room.enter()
    try {
      if (!room.isOpen) await this.#rooms.open(siteId, room)
      return await this.#run(siteId, room, write)
    } finally {
      room.leave()
      if (room.nearLimit && room.hasUnreported) this.#rooms.reportSoon(siteId)
    }
  }

  /** What tables hold now; of a site that takes long to count, at least that much. */
  async usage(siteId: string): Promise<TableUsage> {
    await this.#rooms.report(siteId)
    const read = () => this.#deps.database.withSite(siteId, selectTableUsage)
    let usage = await read()
    if (usage?.isStale) {
      await this.#counts.renew(siteId, usage)
      usage = await read()
    }
    return { usedBytes: usage?.usedBytes ?? 0, usedItems: usage?.usedItems ?? 0 }
  }

  /** After items were removed by others than writers. */
  async recount(siteId: string, signal: AbortSignal): Promise<void> {
    await this.#counts.changed(siteId)
    await this.#counts.run(siteId, signal)
  }

  /** Leaves that count to whoever asks next. */
  changed(siteId: string): Promise<void> {
    return this.#counts.changed(siteId)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#counts.stop()
    await this.#rooms[Symbol.asyncDispose]()
  }

  async #run<Result>(
    siteId: string,
    room: QuotaLease,
    write: (charge: WriteMeter) => Promise<Result>,
  ): Promise<Result> {
    let charge = room.reserve(room.nearLimit)
    for (let tries = 1; ; tries++) {
      try {
        const result = await write(charge)
        charge.commit()
        return result
      } catch (error) {
        charge.rollBack(error)
        if (!(error instanceof QuotaExhausted)) throw error
        if (tries === MOST_TRIES) throw tooBusy(error)
        const { requested } = error
        const granted = await this.#grant(siteId, room, { requested, exact: charge.exact })
        charge = room.reserve(charge.exact || !granted, granted ? requested : NOTHING)
      }
    }
  }

  /** False when the write has to look at what is there before anybody can say whether it grows too much. */
  async #grant(
    siteId: string,
    room: QuotaLease,
    { requested, exact }: { readonly requested: Cost; readonly exact: boolean },
  ): Promise<boolean> {
    let refusal = await this.#ask(siteId, room, requested)
    if (refusal === undefined) return true
    if (!exact) return false
    for (const wait of WAITS_MS) {
      if (!fits(plus(refusal.used, requested), refusal.limits)) break
      await delay(wait)
      refusal = await this.#ask(siteId, room, requested)
      if (refusal === undefined) return true
    }
    const state = await this.#counts.renew(siteId, refusal)
    if (state === 'counting') throw beingCounted()
    if (state === 'counted') refusal = await this.#ask(siteId, room, requested)
    if (refusal === undefined) return true
    throw quotaExceeded(refusal, requested)
  }

  /** Undefined when the room was given. */
  async #ask(
    siteId: string,
    room: QuotaLease,
    requested: Cost,
  ): Promise<QuotaDecision | undefined> {
    const verdict = await this.#rooms.request(siteId, room, requested)
    if (verdict === 'held') return undefined
    if (room.nearLimit) this.#approach(siteId, verdict)
    return verdict.granted ? undefined : verdict
  }

  /** Counts ahead what would keep a writer waiting. */
  #approach(siteId: string, { used, countedAgoMs }: QuotaDecision): void {
    const lately = countedAgoMs !== null && countedAgoMs < COUNTED_LATELY_MS
    if (used.items < MANY_ITEMS || lately) return
    void this.#counts.begin(siteId)
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
