import { AppError } from '#base/app-error.ts'

import { type Charge, RoomNeeded } from './charge.ts'
import { type Cost, growthIn, minus, NOTHING } from './cost.ts'

/** A write that has ended. */
export interface EndedWrite {
  readonly held: Cost
  /** Unknown when nobody can say whether it was done; undefined when nothing was written. */
  readonly growth: Cost | 'unknown' | undefined
  /** The account's, as it was known when the write began. */
  readonly epoch: number
}

/** What a charge takes its room from. */
export interface RoomSource {
  readonly epoch: number
  /** Takes more, or gives back what is negative; false when there is not enough. */
  hold(more: Cost): boolean
  finish(ended: EndedWrite): void
}

/** One try of a write, and the room that it holds meanwhile. */
export class RoomCharge implements Charge {
  readonly exact: boolean
  readonly #source: RoomSource
  readonly #epoch: number
  #held: Cost
  #growth: Cost | undefined

  /** `held` was taken for it before. */
  constructor(source: RoomSource, exact: boolean, held: Cost) {
    this.#source = source
    this.#epoch = source.epoch
    this.exact = exact
    this.#held = held
  }

  grow(by: Cost): void {
    const needed = growthIn(by)
    if (!this.#source.hold(minus(needed, this.#held))) throw new RoomNeeded(needed)
    this.#held = needed
    this.#growth = by
  }

  done(): void {
    this.#finish(this.#growth)
  }

  /** A refusal says that nothing was written; after any other fault only the database knows. */
  failed(error: unknown): void {
    const refused = error instanceof AppError || error instanceof RoomNeeded
    this.#finish(refused || this.#growth === undefined ? undefined : 'unknown')
  }

  #finish(growth: EndedWrite['growth']): void {
    this.#source.finish({ held: this.#held, growth, epoch: this.#epoch })
    this.#held = NOTHING
  }
}
