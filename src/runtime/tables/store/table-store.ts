import type { Item } from '#runtime/tables/items/attribute-value.ts'

import type { ItemKey } from './item-key.ts'
import type { StoredRange } from './key-range.ts'
import type { TableLayout } from './layout.ts'
import type { StoredItem } from './stored-item.ts'

/**
 * The items of tables. `storeOf` runs each call in a transaction of its own and in one round trip, some of them together;
 * `storeIn` runs them in a transaction of the caller's. There, `read` with a lock holds items that exist, and `write` says
 * `changed` when another writer came first: lock items in the order of `compareItemKeys`, or two transactions wait for each
 * other.
 */
export interface TableStore {
  get(table: TableAddress, key: ItemKey): Promise<StoredItem | undefined>
  /** Items of several tables, in the order of their keys. */
  getMany(siteId: string, keys: readonly AddressedKey[]): Promise<(StoredItem | undefined)[]>
  read(table: TableAddress, key: ItemKey, options?: { readonly lock: boolean }): Promise<ReadItem>
  write(table: TableAddress, key: ItemKey, write: ItemWrite): Promise<WriteOutcome>
  page(table: TableAddress, request: StoredPageRequest): Promise<StoredPage>
}

export interface TableAddress {
  readonly siteId: string
  readonly tableId: string
}

export interface AddressedKey {
  readonly tableId: string
  readonly key: ItemKey
}

export interface ReadItem {
  /** The generation of the table's layout; null when the table has none. */
  readonly generation: number | null
  /** Undefined when there is none, or it has ended. */
  readonly item: Item | undefined
  readonly expected: Expected
}

/** What has to be so for a write to be done: `present` and `absent` ask for an item, a version for that row and no other. */
export type Expected = 'any' | 'absent' | 'present' | { readonly version: string }

export interface ItemWrite {
  readonly layout: TableLayout
  readonly expected: Expected
  /** Undefined deletes. */
  readonly item: Item | undefined
  /** Whether the answer shall hold the item as it was. */
  readonly withBefore: boolean
}

/** `stale`: the layout is not the table's any more. `changed`: what was expected is not so; `before` is what is there. */
export type WriteOutcome =
  | { readonly outcome: 'done'; readonly before: Item | undefined }
  | { readonly outcome: 'stale' }
  | { readonly outcome: 'changed'; readonly before: Item | undefined; readonly expected: Expected }

export interface StoredPageRequest {
  /** Left out for the table itself. */
  readonly index?: string
  readonly range: StoredRange
  readonly forward: boolean
  /** Items at most; a page also ends with the item that makes it 1 MiB or more. */
  readonly limit: number
}

export interface StoredPage {
  readonly items: readonly StoredItem[]
  /** Whether the limit or 1 MiB ended it; then there may be more. */
  readonly full: boolean
}
