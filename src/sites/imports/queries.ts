import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

/** The moment of the database, also late in a transaction. */
const NOW = sql<Date>`clock_timestamp()`

export async function insertImport(tx: SiteTx, domain: string): Promise<void> {
  await tx.db
    .insertInto('site_import')
    .values({ site_id: tx.siteId, domain, started_at: NOW, alive_at: NOW })
    .execute()
}

export async function renewImport(tx: SiteTx): Promise<void> {
  await tx.db
    .updateTable('site_import')
    .set({ alive_at: NOW })
    .where('site_id', '=', tx.siteId)
    .execute()
}

/** False when it is gone already. */
export async function deleteImport(tx: SiteTx): Promise<boolean> {
  const row = await tx.db
    .deleteFrom('site_import')
    .where('site_id', '=', tx.siteId)
    .returning('site_id')
    .executeTakeFirst()
  return row !== undefined
}

/** Whether an import is running, by a sign of life that is not older than so many seconds. */
export async function selectIsAlive(tx: SiteTx, seconds: number): Promise<boolean> {
  const row = await tx.db
    .selectFrom('site_import')
    .select('site_id')
    .where('site_id', '=', tx.siteId)
    .where('alive_at', '>', sql<Date>`clock_timestamp() - make_interval(secs => ${seconds})`)
    .executeTakeFirst()
  return row !== undefined
}
