import { notFound } from '#base/app-error.ts'
import { CoalescingQueue } from '#base/coalescing-queue.ts'
import type { Ids } from '#base/ids.ts'
import { KeyedMutex } from '#base/keyed-mutex.ts'
import type { PlatformServices } from '#platform/services.ts'

import { type Cost, NOTHING, plus } from './cost.ts'
import { QuotaLease, type QuotaReport } from './lease.ts'
import { exchangeQuota, type LedgerAnswer } from './ledger-queries.ts'

/** How often each lease reports what was written. */
const REPORT_MS = 5000
/** On sites close to a limit, where others wait for what is handed back. */
const REPORT_SOON_MS = 50
/** Sites that report at once: one whose ledger is locked does not keep the others. */
const REPORTS_AT_ONCE = 4

export interface QuotaDecision extends LedgerAnswer {
  /** All that is used, or promised to writes that run. */
  readonly taken: Cost
}

export interface QuotaLeasesDeps extends Pick<PlatformServices, 'database' | 'clock' | 'logger'> {
  readonly ids: Pick<Ids, 'uuid'>
}

/** The leases of this process, and their exchanges with the ledgers of their sites: for each site one after the other. */
export class QuotaLeases implements AsyncDisposable {
  readonly #deps: QuotaLeasesDeps
  readonly #onReported: (siteId: string, answer: LedgerAnswer) => Promise<void>
  readonly #holder: string
  readonly #leases = new Map<string, QuotaLease>()
  readonly #mutex = new KeyedMutex()
  readonly #soon = new Map<string, NodeJS.Timeout>()
  readonly #reports = new CoalescingQueue(REPORTS_AT_ONCE, (siteId) => this.#reportOrWarn(siteId))
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(
    deps: QuotaLeasesDeps,
    onReported: (siteId: string, answer: LedgerAnswer) => Promise<void>,
  ) {
    this.#deps = deps
    this.#onReported = onReported
    this.#holder = deps.ids.uuid()
  }

  leaseOf(siteId: string): QuotaLease {
    const known = this.#leases.get(siteId)
    if (known) return known
    const lease = new QuotaLease(() => this.#deps.clock.now().getTime())
    this.#leases.set(siteId, lease)
    if (!this.#closed) this.#timer ??= setTimeout(() => this.#tick(), REPORT_MS)
    return lease
  }

  /** Learns the state of the ledger, once for each lease. */
  open(siteId: string, lease: QuotaLease): Promise<void> {
    return this.#mutex.run(siteId, async () => {
      if (lease.isOpen) return
      const decision = await this.#exchange(siteId, lease, lease.request(NOTHING))
      if (decision === undefined) throw notFound('Site', siteId)
    })
  }

  /** Asks for a grant; `held` when enough has become free since. */
  request(siteId: string, lease: QuotaLease, asked: Cost): Promise<QuotaDecision | 'held'> {
    return this.#mutex.run(siteId, async () => {
      if (lease.hold(asked)) return 'held'
      const decision = await this.#exchange(siteId, lease, lease.request(asked))
      if (decision === undefined) throw notFound('Site', siteId)
      return decision
    })
  }

  /** Reports what was written. */
  async report(siteId: string): Promise<void> {
    const answer = await this.#mutex.run(siteId, async () => {
      // Only now: before its turn it may have been forgotten, and another have come in its place.
      const lease = this.#leases.get(siteId)
      if (!lease) return undefined
      const answered = await this.#exchange(siteId, lease, lease.report())
      // The next write begins with an exchange anyway.
      if (lease.isIdle || answered === undefined) this.#leases.delete(siteId)
      return answered
    })
    if (answer) await this.#onReported(siteId, answer)
  }

  reportSoon(siteId: string): void {
    if (this.#closed || this.#soon.has(siteId)) return
    const report = () => {
      this.#soon.delete(siteId)
      void this.#reports.add(siteId)
    }
    this.#soon.set(siteId, setTimeout(report, REPORT_SOON_MS))
  }

  /** Hands everything back; no write may be on its way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const timer of this.#soon.values()) clearTimeout(timer)
    for (const lease of this.#leases.values()) lease.close()
    await this.#reports.addAll(this.#leases.keys())
  }

  #tick(): void {
    for (const siteId of this.#leases.keys()) void this.#reports.add(siteId)
    this.#timer = undefined
    if (this.#leases.size > 0 && !this.#closed) {
      this.#timer = setTimeout(() => this.#tick(), REPORT_MS)
    }
  }

  async #reportOrWarn(siteId: string): Promise<void> {
    await this.report(siteId).catch((error: unknown) => {
      this.#deps.logger.warn({ siteId, err: error }, 'what tables grew by is reported later')
    })
  }

  async #exchange(
    siteId: string,
    lease: QuotaLease,
    report: QuotaReport,
  ): Promise<QuotaDecision | undefined> {
    const { database } = this.#deps
    const place = { siteId, holder: this.#holder }
    const answer = await exchangeQuota(database, place, report).catch((error: unknown) => {
      lease.reportFailed(report)
      throw error
    })
    if (answer === undefined) return undefined
    lease.accept(report, answer)
    return { ...answer, taken: plus(plus(answer.used, answer.others), report.held) }
  }
}
