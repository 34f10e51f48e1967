import { byteaList } from '#platform/postgres/array-types.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { itemSize } from '#runtime/tables/items/size.ts'

import { itemExpiry } from './item-expiry.ts'
import { indexEntriesOf, type TableLayout } from './layout.ts'
import { storedText } from './stored-item.ts'
import type { ItemWrite } from './table-store.ts'

/** A put that nothing depends on, neither an answer nor an entry of an index. */
export type PlainPut = ItemWrite & { readonly item: Item }

export const isPlainPut = (write: ItemWrite): write is PlainPut =>
  write.expected === 'any' &&
  write.item !== undefined &&
  !write.withBefore &&
  write.layout.indexes.length === 0

/** An item as its row keeps it. */
interface BodyForm {
  readonly body: string
  readonly size: number
  readonly expiry: number | null
}

export const bodyForm = (item: Item, layout: TableLayout, nowSeconds: number): BodyForm => ({
  body: storedText(item),
  size: itemSize(item),
  expiry: itemExpiry(item, layout.ttlAttribute, nowSeconds),
})

/** Body, size, expiry, and the index entries as three lists: parameters of `table_item_write`. */
export function storedForm(
  item: Item | undefined,
  layout: TableLayout,
  nowSeconds: number,
): readonly unknown[] {
  return [...bodyParameters(item, layout, nowSeconds), ...entryParameters(item, layout)]
}

function bodyParameters(
  item: Item | undefined,
  layout: TableLayout,
  nowSeconds: number,
): readonly unknown[] {
  if (item === undefined) return [null, null, null]
  const { body, size, expiry } = bodyForm(item, layout, nowSeconds)
  return [body, size, expiry]
}

function entryParameters(item: Item | undefined, { indexes }: TableLayout): readonly unknown[] {
  if (indexes.length === 0) return [null, null, null]
  const entries = item === undefined ? [] : indexEntriesOf(item, indexes)
  return [
    entries.map(({ indexId }) => indexId),
    byteaList(entries.map(({ key }) => key.hash)),
    byteaList(entries.map(({ key }) => key.sort)),
  ]
}
