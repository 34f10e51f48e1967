import type { SiteTx } from '#platform/postgres/database.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import type { WriteMeter } from '#runtime/tables/quotas/charge.ts'
import { costOf, minus, NOTHING, plus } from '#runtime/tables/quotas/cost.ts'
import type { BatchItems } from '#runtime/tables/store/batch-items.ts'
import { type ItemRef, refText } from '#runtime/tables/store/item-ref.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

/** A request on several items, read and checked, ready to be performed. */
export interface BatchPlan<Result> {
  /** The items that it is about. */
  readonly refs: readonly ItemRef[]
  perform(tx: SiteTx, deps: PlanDeps): Promise<Result>
}

interface PlanDeps {
  readonly items: BatchItems
  readonly now: Date
  /** Called before anything is written. */
  readonly meter: WriteMeter
}

/** What becomes of one item; undefined removes it. */
export interface BatchChange {
  readonly ref: ItemRef
  readonly item: Item | undefined
  /** What is there; undefined for nothing, or where it was not read. */
  readonly before?: Item | undefined
}

/** Refuses two requests for one item. */
export function checkDistinct(refs: readonly ItemRef[], message: string): void {
  if (new Set(refs.map(refText)).size < refs.length) throw validationError(message)
}

/** Tells what changes make the tables grow by. */
export function meterChanges(meter: WriteMeter, changes: readonly BatchChange[]): void {
  const growths = changes.map(({ ref: { table }, item, before }) =>
    minus(costOf(item, table.schema), costOf(before, table.schema)),
  )
  meter.charge(growths.reduce(plus, NOTHING))
}
