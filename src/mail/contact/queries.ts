import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

/** Others that add recipients to the site wait until the transaction ends. */
export async function lockContactRecipients(tx: SiteTx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('contact_recipient'), hashtext(${tx.siteId}))`.execute(
    tx.db,
  )
}

/** By address. */
export function selectContactRecipients(tx: SiteTx): Promise<StoredContactRecipient[]> {
  return tx.db
    .selectFrom('contact_recipient')
    .select(['email', 'created_at as createdAt', 'updated_at as updatedAt'])
    .where('site_id', '=', tx.siteId)
    .orderBy('email')
    .execute()
}

export interface StoredContactRecipient {
  readonly email: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Those that are there already are marked as updated. */
export async function upsertContactRecipients(
  tx: SiteTx,
  emails: readonly string[],
  now: Date,
): Promise<void> {
  await tx.db
    .insertInto('contact_recipient')
    .values(
      emails.map((email) => ({ site_id: tx.siteId, email, created_at: now, updated_at: now })),
    )
    .onConflict((on) => on.columns(['site_id', 'email']).doUpdateSet({ updated_at: now }))
    .execute()
}

/** Returns those that were there. */
export async function deleteContactRecipients(
  tx: SiteTx,
  emails: readonly string[],
): Promise<readonly string[]> {
  const rows = await tx.db
    .deleteFrom('contact_recipient')
    .where('site_id', '=', tx.siteId)
    .where('email', 'in', emails)
    .returning('email')
    .execute()
  return rows.map(({ email }) => email).toSorted()
}
