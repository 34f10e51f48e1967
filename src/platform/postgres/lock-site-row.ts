import type { SiteTx } from './database.ts'

/** Lets changes that count what a site has come one after the other, until the transaction ends. False when the site is gone. */
export async function lockSiteRow(tx: SiteTx): Promise<boolean> {
  const row = await tx.db
    .selectFrom('site')
    .select('site_id')
    .where('site_id', '=', tx.siteId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row !== undefined
}
