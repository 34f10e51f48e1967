import { AppError } from '#base/app-error.ts'

import { QuotaExhausted, type WriteMeter } from './charge.ts'
import {
  type Cost,
  fits,
  growthIn,
  isNothing,
  larger,
  minus,
  NOTHING,
  plus,
  smaller,
} from './cost.ts'

/** Room that was not renewed for so long is not used any more: others take its holder for dead later. */
const VALID_MS = 30_000
/** What a process asks for on top of what it needs: twice what it wrote lately, within these bounds. */
const MIN_PREFETCH: Cost = { bytes: 1024 ** 2, items: 1000 }
const MAX_PREFETCH: Cost = { bytes: 32 * 1024 ** 2, items: 50_000 }
/** From here on writes look at what is there, so that what is replaced or deleted is known. */
const NEAR_LIMIT_SHARE = 0.8

/** What one process reports to its site's ledger, and requests of it. */
export interface QuotaReport {
  readonly epoch: number
  readonly wrote: boolean
  readonly gain: Cost
  readonly loss: Cost
  /** What it keeps of what it was granted. */
  readonly held: Cost
  readonly requested: Cost
  readonly prefetch: Cost
}

/** What the ledger answers. */
export interface QuotaGrant {
  readonly granted: boolean
  /** What was asked for and what came on top. */
  readonly amount: Cost
  readonly used: Cost
  /** What other processes have reserved. */
  readonly others: Cost
  readonly limits: Cost
  readonly epoch: number
}

/** A write that has ended. */
interface FinishedReservation {
  readonly held: Cost
  /** Unknown when the write may or may not have been done; undefined when nothing was written. */
  readonly growth: Cost | 'unknown' | undefined
  /** The ledger's, as it was known when the write began. */
  readonly epoch: number
}

/** What one process may still write for a site without asking the ledger. Nothing here waits. */
export class QuotaLease {
  readonly #now: () => number
  #free = NOTHING
  /** By writes that run. */
  #held = NOTHING
  #running = 0
  #gain = NOTHING
  #loss = NOTHING
  #wrote = false
  #lately = NOTHING
  #epoch = 0
  #tight = false
  #grantedAt: number | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** Whether the site is close to a limit. */
  get nearLimit(): boolean {
    return this.#tight
  }

  /** Whether the ledger has answered yet. */
  get isOpen(): boolean {
    return this.#grantedAt !== undefined
  }

  /** The ledger's, as of its last answer. */
  get epoch(): number {
    return this.#epoch
  }

  /** Whether something was written that was not reported yet. */
  get hasUnreported(): boolean {
    return this.#wrote
  }

  /** Whether it may be forgotten. */
  get isIdle(): boolean {
    return !this.#wrote && this.#running === 0 && isNothing(plus(this.#free, this.#held))
  }

  /** A write begins: until `leave` the lease is not forgotten. */
  enter(): void {
    this.#running += 1
  }

  leave(): void {
    this.#running -= 1
  }

  /** `held` was taken for it before. */
  reserve(exact: boolean, held: Cost = NOTHING): QuotaReservation {
    return new QuotaReservation(this, exact, held)
  }

  /** Takes more, or gives back what is negative; false when there is not enough. */
  hold(more: Cost): boolean {
    if (this.#now() - (this.#grantedAt ?? 0) > VALID_MS) this.#free = NOTHING
    const free = minus(this.#free, more)
    if ((more.bytes > 0 && free.bytes < 0) || (more.items > 0 && free.items < 0)) return false
    this.#free = free
    this.#held = plus(this.#held, more)
    return true
  }

  finish({ held, growth, epoch }: FinishedReservation): void {
    const gain = growth === 'unknown' ? held : growthIn(growth ?? NOTHING)
    this.#held = minus(this.#held, held)
    this.#free = plus(this.#free, minus(held, gain))
    this.#gain = plus(this.#gain, gain)
    this.#wrote ||= growth !== undefined
    // Under another epoch it may have been counted without what was removed.
    if (growth === undefined || growth === 'unknown' || epoch !== this.#epoch) return
    this.#loss = plus(this.#loss, minus(gain, growth))
  }

  /** Begins an exchange that requests a grant, with a prefetch if there is plenty. It hands back what is free. */
  request(requested: Cost): QuotaReport {
    this.#free = NOTHING
    const twice = plus(this.#gain, this.#gain)
    return this.#makeReport(requested, smaller(larger(twice, MIN_PREFETCH), MAX_PREFETCH))
  }

  /** Gives up what is free. */
  close(): void {
    this.#free = NOTHING
  }

  /** Begins an exchange that asks for nothing and hands back what would not be used soon. */
  report(): QuotaReport {
    this.#free = smaller(this.#free, plus(this.#lately, this.#gain))
    this.#lately = this.#gain
    return this.#makeReport(NOTHING, NOTHING)
  }

  accept({ requested }: QuotaReport, answer: QuotaGrant): void {
    if (answer.epoch !== this.#epoch) this.#loss = NOTHING
    this.#epoch = answer.epoch
    this.#grantedAt = this.#now()
    if (answer.granted) {
      this.#held = plus(this.#held, requested)
      this.#free = plus(this.#free, minus(answer.amount, requested))
    }
    const { used, others, limits } = answer
    const taken = plus(plus(used, others), plus(this.#held, this.#free))
    this.#tight = !fits(taken, {
      bytes: limits.bytes * NEAR_LIMIT_SHARE,
      items: limits.items * NEAR_LIMIT_SHARE,
    })
    if (!fits(taken, limits)) this.#free = NOTHING
  }

  /** It is unknown whether the ledger took the report: what was gained is reported again, what was lost is not. */
  reportFailed(report: QuotaReport): void {
    this.#gain = plus(this.#gain, report.gain)
    this.#wrote ||= report.wrote
  }

  #makeReport(requested: Cost, prefetch: Cost): QuotaReport {
    const report = {
      epoch: this.#epoch,
      wrote: this.#wrote,
      gain: this.#gain,
      loss: this.#loss,
      held: plus(this.#held, this.#free),
      requested,
      prefetch,
    }
    this.#gain = NOTHING
    this.#loss = NOTHING
    this.#wrote = false
    return report
  }
}

/** One attempt of a write, and what it holds of the quota during it. */
export class QuotaReservation implements WriteMeter {
  readonly exact: boolean
  readonly #lease: QuotaLease
  readonly #epoch: number
  #held: Cost
  #growth: Cost | undefined

  /** `held` was taken for it before. */
  constructor(lease: QuotaLease, exact: boolean, held: Cost) {
    this.#lease = lease
    this.#epoch = lease.epoch
    this.exact = exact
    this.#held = held
  }

  charge(by: Cost): void {
    const needed = growthIn(by)
    if (!this.#lease.hold(minus(needed, this.#held))) throw new QuotaExhausted(needed)
    this.#held = needed
    this.#growth = by
  }

  commit(): void {
    this.#finish(this.#growth)
  }

  /** A refusal says that nothing was written; after any other fault only the database knows. */
  rollBack(error: unknown): void {
    const refused = error instanceof AppError || error instanceof QuotaExhausted
    this.#finish(refused || this.#growth === undefined ? undefined : 'unknown')
  }

  #finish(growth: FinishedReservation['growth']): void {
    this.#lease.finish({ held: this.#held, growth, epoch: this.#epoch })
    this.#held = NOTHING
  }
}
