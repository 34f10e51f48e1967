import { type RawBuilder, sql } from 'kysely'

import { byteaList } from '#platform/postgres/array-types.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { ItemKey } from './item-key.ts'
import type { IndexEntry } from './layout.ts'

/** An item, locked until the transaction ends. */
export interface LockedItem {
  readonly key: ItemKey
  readonly body: string
}

/** What the row of an item shall say beside the item itself. */
export interface BuiltItem {
  readonly key: ItemKey
  readonly expiresAt: number | null
  /** Null in a table without indexes. */
  readonly entries: readonly IndexEntry[] | null
}

/** Items after a key, in the order of keys. */
export async function lockItemsAfter(
  tx: SiteTx,
  tableId: string,
  after: ItemKey,
  bound: { readonly items: number; readonly bytes: number },
): Promise<LockedItem[]> {
  const { rows } = await sql<ItemKey & { readonly body: string }>`
    select partition_hash as hash, sort_key as sort, body
    from table_items_lock(
      ${tx.siteId}, ${tableId}, ${after.hash}, ${after.sort}, ${bound.items}, ${bound.bytes})`.execute(
    tx.db,
  )
  return rows.map(({ body, ...key }) => ({ key, body }))
}

/** Brings the rows of locked items, and their entries in indexes, in line. */
export async function writeBuiltItems(
  tx: SiteTx,
  tableId: string,
  items: readonly BuiltItem[],
): Promise<void> {
  // A list of lists of different lengths is no array: each list is a text.
  const lists = (of: (entries: readonly IndexEntry[]) => string): (string | null)[] =>
    items.map(({ entries }) => entries && of(entries))
  await sql`
    select table_item_build(
      ${tx.siteId}, ${tableId}, item.hash, item.sort, item.expires_at,
      item.ids::integer[], item.hashes::bytea[], item.sorts::bytea[])
    from unnest(
      ${byteaList(items.map(({ key }) => key.hash))}::bytea[],
      ${byteaList(items.map(({ key }) => key.sort))}::bytea[],
      ${items.map(({ expiresAt }) => expiresAt)}::bigint[],
      ${lists((entries) => `{${entries.map(({ indexId }) => indexId).join(',')}}`)}::text[],
      ${lists((entries) => byteaList(entries.map(({ key }) => key.hash)))}::text[],
      ${lists((entries) => byteaList(entries.map(({ key }) => key.sort)))}::text[]
    ) as item (hash, sort, expires_at, ids, hashes, sorts)`.execute(tx.db)
}

/** Removes some entries of an index, or of all indexes of the table; gives how many. */
export const deleteEntries = (
  tx: SiteTx,
  tableId: string | null,
  indexId: number | null,
  most: number,
): Promise<number> =>
  removed(tx, sql`table_entries_delete(${tx.siteId}, ${tableId}, ${indexId}, ${most})`)

/** Removes some items with their entries, of one table or of all; with `endedAt` those that have ended by then. */
export const deleteItems = (
  tx: SiteTx,
  tableId: string | null,
  endedAt: number | null,
  most: number,
): Promise<number> =>
  removed(tx, sql`table_items_delete(${tx.siteId}, ${tableId}, ${endedAt}, ${most})`)

async function removed(tx: SiteTx, removal: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ removed: number }>`select ${removal} as removed`.execute(tx.db)
  return rows[0]?.removed ?? 0
}
