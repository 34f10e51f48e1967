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

export const plus = (one: Cost, other: Cost): Cost => ({
  bytes: one.bytes + other.bytes,
  items: one.items + other.items,
})

export const minus = (one: Cost, other: Cost): Cost => ({
  bytes: one.bytes - other.bytes,
  items: one.items - other.items,
})

/** What of it is growth. */
export const growthIn = ({ bytes, items }: Cost): Cost => ({
  bytes: Math.max(0, bytes),
  items: Math.max(0, items),
})

export const smaller = (one: Cost, other: Cost): Cost => ({
  bytes: Math.min(one.bytes, other.bytes),
  items: Math.min(one.items, other.items),
})

export const larger = (one: Cost, other: Cost): Cost => ({
  bytes: Math.max(one.bytes, other.bytes),
  items: Math.max(one.items, other.items),
})

export const fits = (requested: Cost, limit: Cost): boolean =>
  requested.bytes <= limit.bytes && requested.items <= limit.items

export const isNothing = ({ bytes, items }: Cost): boolean => bytes === 0 && items === 0
