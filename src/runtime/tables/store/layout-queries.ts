import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'
import type { KeyAttribute } from '#runtime/tables/items/key-schema.ts'

import type { ItemKey } from './item-key.ts'
import type { LayoutIndex, TableLayout } from './layout.ts'

export type IndexStatus = 'building' | 'active' | 'removing'

export interface StoredIndex extends LayoutIndex {
  readonly status: IndexStatus
}

export interface StoredLayout {
  readonly generation: number
  readonly ttlAttribute: string | undefined
  readonly lastIndexId: number
  /** The item up to which a build has come; undefined when none is needed. */
  readonly builtTo: ItemKey | undefined
  readonly indexes: readonly StoredIndex[]
}

/** The same number as in the functions of `migrations/0302`. */
export const LAYOUT_LOCK = 1_413_565_252

/** Until the end of the transaction no item of the table is written, and none of a write that is not committed is pending. */
export async function lockWrites(tx: SiteTx, tableId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LAYOUT_LOCK}, hashtext(${tableId}))`.execute(tx.db)
}

export const writableLayout = ({
  generation,
  ttlAttribute,
  indexes,
}: StoredLayout): TableLayout => ({
  generation,
  ttlAttribute,
  indexes: indexes.filter(({ status }) => status !== 'removing'),
})

export async function selectLayout(tx: SiteTx, tableId: string): Promise<StoredLayout | undefined> {
  const row = await tx.db
    .selectFrom('table_layout')
    .select(['generation', 'ttl_attribute', 'last_index_id', 'built_hash', 'built_sort'])
    .where('site_id', '=', tx.siteId)
    .where('table_id', '=', tableId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { built_hash: hash, built_sort: sort } = row
  return {
    generation: row.generation,
    ttlAttribute: row.ttl_attribute ?? undefined,
    lastIndexId: row.last_index_id,
    builtTo: hash === null || sort === null ? undefined : { hash, sort },
    indexes: await selectIndexes(tx, tableId),
  }
}

/** Locks the row: builds of one table happen one after the other. */
export async function lockLayout(tx: SiteTx, tableId: string): Promise<StoredLayout | undefined> {
  await tx.db
    .selectFrom('table_layout')
    .select('table_id')
    .where('site_id', '=', tx.siteId)
    .where('table_id', '=', tableId)
    .forUpdate()
    .executeTakeFirst()
  return selectLayout(tx, tableId)
}

export async function upsertLayout(
  tx: SiteTx,
  tableId: string,
  layout: Omit<StoredLayout, 'indexes'>,
): Promise<void> {
  const columns = {
    generation: layout.generation,
    ttl_attribute: layout.ttlAttribute ?? null,
    last_index_id: layout.lastIndexId,
    built_hash: layout.builtTo?.hash ?? null,
    built_sort: layout.builtTo?.sort ?? null,
  }
  await tx.db
    .insertInto('table_layout')
    .values({ site_id: tx.siteId, table_id: tableId, ...columns })
    .onConflict((on) => on.columns(['site_id', 'table_id']).doUpdateSet(columns))
    .execute()
}

export async function insertIndex(tx: SiteTx, tableId: string, index: StoredIndex): Promise<void> {
  await tx.db
    .insertInto('table_index')
    .values({
      site_id: tx.siteId,
      table_id: tableId,
      index_id: index.indexId,
      name: index.name,
      partition_key: JSON.stringify(index.partitionKey),
      sort_key: index.sortKey === undefined ? null : JSON.stringify(index.sortKey),
      status: index.status,
    })
    .execute()
}

export async function updateIndexStatus(
  tx: SiteTx,
  tableId: string,
  change: { readonly indexIds: readonly number[]; readonly status: IndexStatus },
): Promise<void> {
  if (change.indexIds.length === 0) return
  await tx.db
    .updateTable('table_index')
    .set({ status: change.status })
    .where('site_id', '=', tx.siteId)
    .where('table_id', '=', tableId)
    .where('index_id', 'in', change.indexIds)
    .execute()
}

export async function deleteIndex(tx: SiteTx, tableId: string, indexId: number): Promise<void> {
  await tx.db
    .deleteFrom('table_index')
    .where('site_id', '=', tx.siteId)
    .where('table_id', '=', tableId)
    .where('index_id', '=', indexId)
    .execute()
}

export async function deleteLayout(tx: SiteTx, tableId: string): Promise<void> {
  for (const table of ['table_index', 'table_layout'] as const) {
    await tx.db
      .deleteFrom(table)
      .where('site_id', '=', tx.siteId)
      .where('table_id', '=', tableId)
      .execute()
  }
}

export async function hasItems(tx: SiteTx, tableId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('table_item')
    .select('table_id')
    .where('site_id', '=', tx.siteId)
    .where('table_id', '=', tableId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Holds the definition of a table against its deletion; false when it is gone. */
export async function lockTableResource(tx: SiteTx, tableId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('data_resource')
    .select('resource_id')
    .where('site_id', '=', tx.siteId)
    .where('resource_id', '=', tableId)
    .forShare()
    .executeTakeFirst()
  return row !== undefined
}

async function selectIndexes(tx: SiteTx, tableId: string): Promise<StoredIndex[]> {
  const rows = await tx.db
    .selectFrom('table_index')
    .select([
      'index_id as indexId',
      'name',
      'partition_key as partitionKey',
      'sort_key as sortKey',
      'status',
    ])
    // Only `insertIndex` writes the two keys.
    .$narrowType<{ partitionKey: KeyAttribute; sortKey: KeyAttribute | null }>()
    .where('site_id', '=', tx.siteId)
    .where('table_id', '=', tableId)
    .orderBy('index_id')
    .execute()
  return rows.map(({ sortKey, ...row }) => ({ ...row, ...(sortKey !== null && { sortKey }) }))
}
