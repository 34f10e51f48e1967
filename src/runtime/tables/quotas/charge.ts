import type { ItemChange } from '#runtime/tables/actions/item-change.ts'
import type { Table } from '#runtime/tables/table.ts'

import { type Cost, costOf, minus, NOTHING } from './cost.ts'

/** What one write makes the tables of its site grow by. */
export interface WriteMeter {
  /**
   * Whether the write has to look at what is there, and tell the difference. Else it may tell all of what it brings, which
   * is never too little.
   */
  readonly exact: boolean
  /** Charges what the write adds; called before each try. Throws `QuotaExhausted`; then nothing may be written. */
  charge(by: Cost): void
}

/** Runs writes of a site within its quota. */
export interface MeteredWrites {
  /** `write` is run again when it needed more than there was, and got it. Throws `QuotaExceeded`. */
  run<Result>(siteId: string, write: (meter: WriteMeter) => Promise<Result>): Promise<Result>
}

/** Nothing was written: the runner of the write requests a grant and tries again. */
export class QuotaExhausted extends Error {
  readonly requested: Cost

  constructor(requested: Cost) {
    super('The write needs a grant')
    this.requested = requested
  }
}

/** For tables without a quota. */
export const UNMETERED: MeteredWrites = {
  run: (_siteId, write) => write({ exact: false, charge: () => {} }),
}

/** The same change, which charges the meter. */
export function meteredChange(
  { schema }: Table,
  change: ItemChange,
  meter: WriteMeter,
): ItemChange {
  if (change.direct !== undefined && !meter.exact) {
    meter.charge(costOf(change.direct.item, schema))
    return change
  }
  const { direct: _, ...rest } = change
  return {
    ...rest,
    after(before) {
      const after = change.after(before)
      const same = after === before
      meter.charge(same ? NOTHING : minus(costOf(after, schema), costOf(before, schema)))
      return after
    },
  }
}
