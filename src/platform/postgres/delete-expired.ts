import { sql } from 'kysely'

import type { DatabaseSchema } from './database-schema.ts'
import type { SiteTx } from './database.ts'

const MAX_ROWS = 20

/** Tables of a site whose rows end. */
type ExpiringTable = {
  [Name in keyof DatabaseSchema]: DatabaseSchema[Name] extends {
    site_id: string
    expires_at: unknown
  }
    ? Name
    : never
}[keyof DatabaseSchema]

/**
 * Removes some rows of the site that ended before that moment: called where rows are added, so that none pile up. Skips rows that
 * another transaction is removing or using, or writers would wait for each other here.
 */
export async function deleteExpired(tx: SiteTx, table: ExpiringTable, before: Date): Promise<void> {
  await sql`delete from ${sql.table(table)} where site_id = ${tx.siteId} and ctid = any(array(
    select ctid from ${sql.table(table)}
    where site_id = ${tx.siteId} and expires_at < ${before}
    order by expires_at limit ${MAX_ROWS} for update skip locked))`.execute(tx.db)
}
