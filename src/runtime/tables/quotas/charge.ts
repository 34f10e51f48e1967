import type { ItemChange } from '#runtime/tables/actions/item-change.ts'
import type { Table } from '#runtime/tables/table.ts'

import { type Cost, costOf, minus, NOTHING } from './cost.ts'

/** What one write makes the tables of its site grow by. */
export interface Charge {
  /**
   * Whether the write has to look at what is there, and tell the difference. Else it may tell all of what it brings, which
   * is never too little.
   */
  readonly exact: boolean
  /** To be told before each try of the write. Throws `RoomNeeded`; then nothing may be written. */
  grow(by: Cost): void
}

/** Runs writes of a site within its quota. */
export interface MeteredWrites {
  /** `write` is run again when it needed more room than there was, and got it. Throws `QuotaExceeded`. */
  run<Result>(siteId: string, write: (charge: Charge) => Promise<Result>): Promise<Result>
}

/** Nothing was written: whoever runs the write asks for room and tries again. */
export class RoomNeeded extends Error {
  readonly asked: Cost

  constructor(asked: Cost) {
    super('The write needs room')
    this.asked = asked
  }
}

/** For tables without a quota. */
export const UNMETERED: MeteredWrites = {
  run: (_siteId, write) => write({ exact: false, grow: () => {} }),
}

/** The same change, which tells the charge what it does. */
export function chargedChange({ schema }: Table, change: ItemChange, charge: Charge): ItemChange {
  if (change.blind !== undefined && !charge.exact) {
    charge.grow(costOf(change.blind.item, schema))
    return change
  }
  const { blind: _, ...rest } = change
  return {
    ...rest,
    after(before) {
      const after = change.after(before)
      const same = after === before
      charge.grow(same ? NOTHING : minus(costOf(after, schema), costOf(before, schema)))
      return after
    },
  }
}
