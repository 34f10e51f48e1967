import type { Item } from '#runtime/tables/items/attribute-value.ts'
import { itemSize } from '#runtime/tables/items/size.ts'

import { itemExpiry } from './item-expiry.ts'
import { keyLists } from './item-key.ts'
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
export const bodyForm = (item: Item, layout: TableLayout, nowSeconds: number) => ({
  body: storedText(item),
  size: itemSize(item),
  expiry: itemExpiry(item, layout.ttlAttribute, nowSeconds),
})
export const NO_ITEM_FORM = { body: null, size: null, expiry: null }

/** The entries of an item in the indexes, as lists; null in a table without indexes. */
export function entryForm(item: Item | undefined, { indexes }: TableLayout) {
  if (indexes.length === 0) return { ids: null, hashes: null, sorts: null }
  const entries = item === undefined ? [] : indexEntriesOf(item, indexes)
  return { ids: entries.map(({ indexId }) => indexId), ...keyLists(entries) }
}
