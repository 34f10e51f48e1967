import { CompiledQuery, sql } from 'kysely'

import { byteaList } from '#platform/postgres/array-types.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { query } from '#platform/postgres/query-text.ts'

import { keyLists, type ItemKey } from './item-key.ts'
import type { IndexEntry } from './layout.ts'

/** Bodies that come in one round trip. */
const FETCHED_AT_ONCE = 100

/** A row of a table that is filled. */
export interface BulkItem {
  readonly key: ItemKey
  readonly body: string
  readonly sizeBytes: number
  readonly expiresAt: number | null
  /** Null in a table without indexes. */
  readonly entries: readonly IndexEntry[] | null
}

/** The bodies of all items that have not ended, in the order of their keys. One table at a time in a transaction. */
export async function* selectItemBodies(
  tx: SiteTx,
  tableId: string,
  nowSeconds: number,
): AsyncGenerator<readonly string[], void, undefined> {
  await tx.db.executeQuery(
    CompiledQuery.raw(
      `declare table_bodies no scroll cursor for
       select body from table_item
       where site_id = $1 and table_id = $2 and (expires_at is null or expires_at > $3)
       order by partition_hash, sort_key`,
      [tx.siteId, tableId, nowSeconds],
    ),
  )
  for (;;) {
    const { rows } = await tx.db.executeQuery<{ body: string }>(
      CompiledQuery.raw(`fetch ${FETCHED_AT_ONCE} from table_bodies`),
    )
    if (rows.length > 0) yield rows.map(({ body }) => body)
    if (rows.length < FETCHED_AT_ONCE) break
  }
  await sql`close table_bodies`.execute(tx.db)
}

/** Rows that are not there yet, with their entries. Fails with Postgres' 23505 when a key comes twice. */
export async function insertItems(
  tx: SiteTx,
  tableId: string,
  items: readonly BulkItem[],
): Promise<void> {
  const { hashes, sorts } = keyLists(items)
  const entryLists = items.map(({ entries }) => (entries === null ? null : keyLists(entries)))
  const [text, parameters] = query`
    insert into table_item (site_id, table_id, partition_hash, sort_key, size_bytes, expires_at, body,
      index_ids, index_hashes, index_sorts)
    select ${tx.siteId}, ${tableId}, hash, sort, size_bytes, expires_at, body,
      ids::integer[], hashes::bytea[], sorts::bytea[]
    from unnest(${hashes}::bytea[], ${sorts}::bytea[], ${items.map((item) => item.sizeBytes)}::integer[],
      ${items.map((item) => item.expiresAt)}::bigint[], ${items.map((item) => item.body)}::text[],
      ${items.map(({ entries }) => idsText(entries))}::text[],
      ${entryLists.map((lists) => lists?.hashes ?? null)}::text[],
      ${entryLists.map((lists) => lists?.sorts ?? null)}::text[])
      as item (hash, sort, size_bytes, expires_at, body, ids, hashes, sorts)`
  await tx.db.executeQuery(CompiledQuery.raw(text, [...parameters]))
  await insertEntries(tx, tableId, items)
}

async function insertEntries(tx: SiteTx, tableId: string, items: readonly BulkItem[]) {
  const all = items.flatMap(({ key, entries }) =>
    (entries ?? []).map((entry) => ({ item: key, ...entry })),
  )
  if (all.length === 0) return
  const { hashes, sorts } = keyLists(all)
  const [text, parameters] = query`
    insert into table_index_entry
      (site_id, table_id, index_id, partition_hash, sort_key, item_hash, item_sort)
    select ${tx.siteId}, ${tableId}, index_id, hash, sort, item_hash, item_sort
    from unnest(${all.map(({ indexId }) => indexId)}::integer[], ${hashes}::bytea[], ${sorts}::bytea[],
      ${byteaList(all.map(({ item }) => item.hash))}::bytea[],
      ${byteaList(all.map(({ item }) => item.sort))}::bytea[])
      as entry (index_id, hash, sort, item_hash, item_sort)`
  await tx.db.executeQuery(CompiledQuery.raw(text, [...parameters]))
}

/** What the tables of a site hold that has just been filled, before the first write. */
export async function insertTableUsage(
  tx: SiteTx,
  used: { readonly bytes: number; readonly items: number },
): Promise<void> {
  await sql`insert into table_usage (site_id, used_bytes, used_items, changed_at)
    values (${tx.siteId}, ${used.bytes}, ${used.items}, clock_timestamp())`.execute(tx.db)
}

const idsText = (entries: BulkItem['entries']): string | null =>
  entries === null ? null : `{${entries.map(({ indexId }) => indexId).join(',')}}`
