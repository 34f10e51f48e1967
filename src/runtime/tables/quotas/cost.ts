import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { itemSize } from '#runtime/tables/items/size.ts'
import type { TableConfig } from '#runtime/tables/table-config.ts'

/** What something counts against the limits `tableBytes` and `tableItems`. */
export interface Cost {
  readonly bytes: number
  readonly items: number
}

/** Beside its size, as DynamoDB counts storage; and as much for each index. `table_count_step` says the same. */
const ITEM_BYTES = 100

export const NOTHING: Cost = { bytes: 0, items: 0 }

export function costOf(item: Item | undefined, schema: TableConfig): Cost {
  if (item === undefined) return NOTHING
  const indexes = schema.globalSecondaryIndexes?.length ?? 0
  return { bytes: itemSize(item) + ITEM_BYTES * (1 + indexes), items: 1 }
}

const combined =
  (combine: (one: number, other: number) => number) =>
  (one: Cost, other: Cost): Cost => ({
    bytes: combine(one.bytes, other.bytes),
    items: combine(one.items, other.items),
  })

export const plus = combined((one, other) => one + other)
export const minus = combined((one, other) => one - other)
export const smaller = combined(Math.min)
export const larger = combined(Math.max)

/** What of it is growth. */
export const growthIn = (cost: Cost): Cost => larger(cost, NOTHING)

export const fits = (requested: Cost, limit: Cost): boolean =>
  requested.bytes <= limit.bytes && requested.items <= limit.items

export const isNothing = ({ bytes, items }: Cost): boolean => bytes === 0 && items === 0
