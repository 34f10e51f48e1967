import { sql } from 'kysely'

import type { SiteTx } from './database.ts'
import type { Tables } from './tables.ts'

const AT_ONCE = 20

/** Tables whose rows end. */
type Ending = {
  [Name in keyof Tables]: Tables[Name] extends { expires_at: unknown } ? Name : never
}[keyof Tables]

/**
 * Removes some rows of the site that ended before that moment: called where rows are added, so that none pile up. Rows
 * that somebody else is removing or using are skipped, or writers would wait for each other here.
 */
export async function sweepExpired(tx: SiteTx, table: Ending, before: Date): Promise<void> {
  await sql`delete from ${sql.table(table)} where ctid = any(array(
    select ctid from ${sql.table(table)}
    where site_id = ${tx.siteId} and expires_at < ${before}
    order by expires_at limit ${AT_ONCE} for update skip locked))`.execute(tx.db)
}
