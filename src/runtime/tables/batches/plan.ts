import type { SiteTx } from '#platform/postgres/database.ts'
import type { ActionAnswer } from '#runtime/tables/engine.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import type { Charge } from '#runtime/tables/quotas/charge.ts'
import type { BatchItems, ItemPlace } from '#runtime/tables/store/batch-items.ts'

/** A request on several items, read and checked, ready to be performed. */
export interface Plan {
  /** The items that it is about. */
  readonly places: readonly ItemPlace[]
  perform(tx: SiteTx, means: PlanMeans): Promise<ActionAnswer>
}

interface PlanMeans {
  readonly items: BatchItems
  readonly now: Date
  /** To be told before anything is written. */
  readonly charge: Charge
}

/** What becomes of one item; undefined removes it. */
export interface PlacedItem {
  readonly place: ItemPlace
  readonly item: Item | undefined
}
