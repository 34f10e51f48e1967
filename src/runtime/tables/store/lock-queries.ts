import { createHash } from 'node:crypto'

import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

import { type ItemRef, refText } from './item-ref.ts'
import { LAYOUT_LOCK } from './layout-queries.ts'

/**
 * Keeps other batches and transactions away from these items until the end of this transaction, whether they exist or
 * not. All take their locks in the same order, so none waits for one that waits for it. Writes of single items do not
 * ask for these locks: each of them holds one row at most, which is no danger to that order.
 */
export async function lockRefs(tx: SiteTx, refs: readonly ItemRef[]): Promise<void> {
  await shareLayouts(tx, refs)
  const keys = refs.map((ref) => lockKey(tx.siteId, ref)).toSorted(ascending)
  await sql`select pg_advisory_xact_lock(key) from (
    select key from unnest(${keys.map(String)}::text[]::bigint[]) with ordinality as given (key, place)
    order by place) as sorted`.execute(tx.db)
}

/** Each write asks for this lock anyway. It comes before the rows, since a change of a layout may want the rows too. */
async function shareLayouts(tx: SiteTx, refs: readonly ItemRef[]): Promise<void> {
  const tableIds = [...new Set(refs.map(({ table }) => table.tableId))].toSorted()
  await sql`select pg_advisory_xact_lock_shared(${LAYOUT_LOCK}, hashtext(table_id)) from (
    select table_id from unnest(${tableIds}::text[]) with ordinality as given (table_id, place)
    order by place) as sorted`.execute(tx.db)
}

function lockKey(siteId: string, ref: ItemRef): bigint {
  const digest = createHash('sha256').update(siteId).update('\0').update(refText(ref)).digest()
  return digest.readBigInt64BE(0)
}

const ascending = (one: bigint, other: bigint): number => (one < other ? -1 : one > other ? 1 : 0)
