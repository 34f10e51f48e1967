import { notFound } from '#base/app-error.ts'
import type { Clock } from '#base/clock.ts'
import { CoalescingQueue } from '#base/coalescing-queue.ts'
import type { Ids } from '#base/ids.ts'
import { KeyedMutex } from '#base/keyed-mutex.ts'
import type { Logger } from '#platform/log/logger.ts'
import type { Database } from '#platform/postgres/database.ts'

import { type Cost, NOTHING, plus } from './cost.ts'
import { QuotaLease, type QuotaReport } from './lease.ts'
import { exchangeQuota, type LedgerAnswer } from './ledger-queries.ts'

/** How often what was written is told. */
const REPORT_MS = 5000
/** On sites close to a limit, where others wait for what is handed back. */
const REPORT_SOON_MS = 50
/** Sites that are told of at once: one whose account is locked does not keep the others. */
const REPORTS_AT_ONCE = 4

export interface QuotaDecision extends LedgerAnswer {
  /** All that is used, or promised to writes that run. */
  readonly taken: Cost
}

export interface QuotaLeasesDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Pick<Ids, 'uuid'>
  readonly logger: Logger
}

/** The rooms of this process, and their exchanges with the accounts of their sites: for each site one after the other. */
export class QuotaLeases implements AsyncDisposable {
  readonly #deps: QuotaLeasesDeps
  readonly #onSettled: (siteId: string, answer: LedgerAnswer) => Promise<void>
  readonly #holder: string
  readonly #rooms = new Map<string, QuotaLease>()
  readonly #mutex = new KeyedMutex()
  readonly #soon = new Map<string, NodeJS.Timeout>()
  readonly #settles = new CoalescingQueue(REPORTS_AT_ONCE, (siteId) => this.#settleOrTell(siteId))
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(
    deps: QuotaLeasesDeps,
    onSettled: (siteId: string, answer: LedgerAnswer) => Promise<void>,
  ) {
    this.#deps = deps
    this.#onSettled = onSettled
    this.#holder = deps.ids.uuid()
  }

  leaseOf(siteId: string): QuotaLease {
    const known = this.#rooms.get(siteId)
    if (known) return known
    const room = new QuotaLease(() => this.#deps.clock.now().getTime())
    this.#rooms.set(siteId, room)
    if (!this.#closed) this.#timer ??= setTimeout(() => this.#tick(), REPORT_MS)
    return room
  }

  /** Hears of the account, once for each room. */
  open(siteId: string, room: QuotaLease): Promise<void> {
    return this.#mutex.run(siteId, async () => {
      if (room.isOpen) return
      const verdict = await this.#exchange(siteId, room, room.request(NOTHING))
      if (verdict === undefined) throw notFound('Site', siteId)
    })
  }

  /** Asks for room; `held` when it has come meanwhile. */
  request(siteId: string, room: QuotaLease, asked: Cost): Promise<QuotaDecision | 'held'> {
    return this.#mutex.run(siteId, async () => {
      if (room.hold(asked)) return 'held'
      const verdict = await this.#exchange(siteId, room, room.request(asked))
      if (verdict === undefined) throw notFound('Site', siteId)
      return verdict
    })
  }

  /** Tells what was written. */
  async report(siteId: string): Promise<void> {
    const answer = await this.#mutex.run(siteId, async () => {
      // Only now: before its turn it may have been forgotten, and another have come in its place.
      const room = this.#rooms.get(siteId)
      if (!room) return undefined
      const heard = await this.#exchange(siteId, room, room.report())
      // Whoever asks for room next begins with an exchange anyway.
      if (room.isIdle || heard === undefined) this.#rooms.delete(siteId)
      return heard
    })
    if (answer) await this.#onSettled(siteId, answer)
  }

  reportSoon(siteId: string): void {
    if (this.#closed || this.#soon.has(siteId)) return
    const settle = () => {
      this.#soon.delete(siteId)
      void this.#settles.add(siteId)
    }
    this.#soon.set(siteId, setTimeout(settle, REPORT_SOON_MS))
  }

  /** Hands everything back; no write may be on its way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const timer of this.#soon.values()) clearTimeout(timer)
    for (const room of this.#rooms.values()) room.close()
    await this.#settles.addAll(this.#rooms.keys())
  }

  #tick(): void {
    for (const siteId of this.#rooms.keys()) void this.#settles.add(siteId)
    this.#timer = undefined
    if (this.#rooms.size > 0 && !this.#closed) {
      this.#timer = setTimeout(() => this.#tick(), REPORT_MS)
    }
  }

  async #settleOrTell(siteId: string): Promise<void> {
    await this.report(siteId).catch((error: unknown) => {
      this.#deps.logger.warn({ siteId, err: error }, 'what tables grew by is told later')
    })
  }

  async #exchange(
    siteId: string,
    room: QuotaLease,
    told: QuotaReport,
  ): Promise<QuotaDecision | undefined> {
    const { database } = this.#deps
    const place = { siteId, holder: this.#holder }
    const answer = await exchangeQuota(database, place, told).catch((error: unknown) => {
      room.reportFailed(told)
      throw error
    })
    if (answer === undefined) return undefined
    room.accept(told, answer)
    return { ...answer, taken: plus(plus(answer.used, answer.others), told.held) }
  }
}
