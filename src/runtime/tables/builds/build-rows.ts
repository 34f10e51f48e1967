import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'
import { byteList } from '#runtime/tables/store/byte-lists.ts'
import type { ItemKey } from '#runtime/tables/store/item-key.ts'
import type { IndexEntry } from '#runtime/tables/store/layout.ts'

/** An item that nobody else changes until the transaction ends. */
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
  const { rows } = await sql<{ partition_hash: Buffer; sort_key: Buffer; body: string }>`
    select partition_hash, sort_key, body
    from table_items_lock(
      ${tx.siteId}, ${tableId}, ${after.hash}, ${after.sort}, ${bound.items}, ${bound.bytes})`.execute(
    tx.db,
  )
  return rows.map((row) => ({
    key: { hash: row.partition_hash, sort: row.sort_key },
    body: row.body,
  }))
}

/** Brings the row of a locked item, and its entries in indexes, in line. */
export async function writeBuiltItem(
  tx: SiteTx,
  tableId: string,
  { key, expiresAt, entries }: BuiltItem,
): Promise<void> {
  const ids = entries?.map(({ indexId }) => indexId) ?? null
  const hashes = entries && byteList(entries.map((entry) => entry.key.hash))
  const sorts = entries && byteList(entries.map((entry) => entry.key.sort))
  await sql`
    select table_item_build(
      ${tx.siteId}, ${tableId}, ${key.hash}, ${key.sort}, ${expiresAt},
      ${ids}::integer[], ${hashes}::bytea[], ${sorts}::bytea[])`.execute(tx.db)
}

/** Removes some entries of an index, or of all indexes of the table; gives how many. */
export async function deleteEntries(
  tx: SiteTx,
  tableId: string | null,
  indexId: number | null,
  most: number,
): Promise<number> {
  const { rows } = await sql<{ removed: number }>`
    select table_entries_delete(${tx.siteId}, ${tableId}, ${indexId}, ${most}) as removed`.execute(
    tx.db,
  )
  return rows[0]?.removed ?? 0
}

/** Removes some items with their entries, of one table or of all; with `endedAt` those that have ended by then. */
export async function deleteItems(
  tx: SiteTx,
  tableId: string | null,
  endedAt: number | null,
  most: number,
): Promise<number> {
  const { rows } = await sql<{ removed: number }>`
    select table_items_delete(${tx.siteId}, ${tableId}, ${endedAt}, ${most}) as removed`.execute(
    tx.db,
  )
  return rows[0]?.removed ?? 0
}
