import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

/** What names a challenge in each of the tables. */
const COLUMNS = {
  used_passkey_challenge: 'challenge_hash',
  used_srp_challenge: 'challenge_id',
} as const

export type UsedChallengeTable = keyof typeof COLUMNS

export interface UsedChallenge {
  readonly id: Buffer
  /** Until when it would be good. */
  readonly expiresAt: Date
}

/** False when it is there. */
export async function insertUsedChallenge(
  tx: SiteTx,
  table: UsedChallengeTable,
  { id, expiresAt }: UsedChallenge,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    insert into ${sql.table(table)} (site_id, ${sql.ref(COLUMNS[table])}, expires_at)
    values (${tx.siteId}, ${id}, ${expiresAt}) on conflict do nothing`.execute(tx.db)
  return numAffectedRows > 0n
}
