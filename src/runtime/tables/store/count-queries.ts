import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

/** Items of a table that have not expired, among the first `most`; what is behind those is not looked at. */
export async function selectItemCount(
  tx: SiteTx,
  tableId: string,
  { most, now }: { readonly most: number; readonly now: Date },
): Promise<{ readonly items: number; readonly isAll: boolean }> {
  const { rows } = await sql<{ items: number; looked: number }>`
    select count(*)::int as looked,
      count(*) filter (where expires_at is null or expires_at > ${now.getTime() / 1000}::float8)::int as items
    from (
      select expires_at from table_item where site_id = ${tx.siteId} and table_id = ${tableId}
      limit ${most}
    ) first`.execute(tx.db)
  const { items = 0, looked = 0 } = rows[0] ?? {}
  return { items, isAll: looked < most }
}
