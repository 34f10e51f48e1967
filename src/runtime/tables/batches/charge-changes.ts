import type { Item } from '#runtime/tables/items/attribute-value.ts'
import type { Charge } from '#runtime/tables/quotas/charge.ts'
import { costOf, minus, NOTHING, plus } from '#runtime/tables/quotas/cost.ts'

import type { PlacedItem } from './plan.ts'

export interface KnownChange extends PlacedItem {
  /** What is there; undefined for nothing, or where nobody looked. */
  readonly before: Item | undefined
}

/** Tells what changes make the tables grow by. */
export function chargeChanges(charge: Charge, changes: readonly KnownChange[]): void {
  const growths = changes.map(({ place: { table }, item, before }) =>
    minus(costOf(item, table.schema), costOf(before, table.schema)),
  )
  charge.grow(growths.reduce(plus, NOTHING))
}
