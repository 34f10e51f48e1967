import { AppError } from '#base/app-error.ts'

import { type WriteMeter, QuotaExhausted } from './charge.ts'
import { type Cost, growthIn, minus, NOTHING } from './cost.ts'

/** A write that has ended. */
export interface FinishedReservation {
  readonly held: Cost
  /** Unknown when nobody can say whether it was done; undefined when nothing was written. */
  readonly growth: Cost | 'unknown' | undefined
  /** The ledger's, as it was known when the write began. */
  readonly epoch: number
}

/** What a reservation takes its share from. */
export interface QuotaSource {
  readonly epoch: number
  /** Takes more, or gives back what is negative; false when there is not enough. */
  hold(more: Cost): boolean
  finish(ended: FinishedReservation): void
}

/** One try of a write, and what it holds of the quota meanwhile. */
export class QuotaReservation implements WriteMeter {
  readonly exact: boolean
  readonly #source: QuotaSource
  readonly #epoch: number
  #held: Cost
  #growth: Cost | undefined

  /** `held` was taken for it before. */
  constructor(source: QuotaSource, exact: boolean, held: Cost) {
    this.#source = source
    this.#epoch = source.epoch
    this.exact = exact
    this.#held = held
  }

  charge(by: Cost): void {
    const needed = growthIn(by)
    if (!this.#source.hold(minus(needed, this.#held))) throw new QuotaExhausted(needed)
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
    this.#source.finish({ held: this.#held, growth, epoch: this.#epoch })
    this.#held = NOTHING
  }
}
