import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'

/** Where challenges are kept that were answered, and what names one there. */
const COLUMNS = {
  used_passkey_challenge: 'challenge_hash',
  used_srp_challenge: 'challenge_id',
} as const

/** Uses up a challenge that is good until `expiresAt`. False for one that was answered before, rightly or wrongly. */
export async function useChallenge(
  tx: SiteTx,
  table: keyof typeof COLUMNS,
  { id, expiresAt }: { readonly id: Buffer; readonly expiresAt: Date },
  now: Date,
): Promise<boolean> {
  await deleteExpired(tx, table, now)
  const { numAffectedRows = 0n } = await sql`
    insert into ${sql.table(table)} (site_id, ${sql.ref(COLUMNS[table])}, expires_at)
    values (${tx.siteId}, ${id}, ${expiresAt}) on conflict do nothing`.execute(tx.db)
  return numAffectedRows > 0n
}
