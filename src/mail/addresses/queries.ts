import { sql } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

export type AddressKind = 'mailbox' | 'alias'

/** Others that lock a site's addresses wait until the transaction ends. */
export async function lockAddresses(tx: SiteTx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('mail_address'), hashtext(${tx.siteId}))`.execute(
    tx.db,
  )
}

export async function selectAddressKind(
  tx: SiteTx,
  localPart: string,
): Promise<AddressKind | undefined> {
  const row = await tx.db
    .selectFrom('mail_address')
    .select('kind')
    .where('site_id', '=', tx.siteId)
    .where('local_part', '=', localPart)
    .executeTakeFirst()
  return row?.kind
}

export async function countAddresses(tx: SiteTx): Promise<number> {
  const { count } = await tx.db
    .selectFrom('mail_address')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('site_id', '=', tx.siteId)
    .executeTakeFirstOrThrow()
  return count
}

export async function insertAddress(
  tx: SiteTx,
  address: { readonly localPart: string; readonly kind: AddressKind },
): Promise<void> {
  await tx.db
    .insertInto('mail_address')
    .values({ site_id: tx.siteId, local_part: address.localPart, kind: address.kind })
    .execute()
}

export async function deleteAddresses(tx: SiteTx, localParts: readonly string[]): Promise<void> {
  await tx.db
    .deleteFrom('mail_address')
    .where('site_id', '=', tx.siteId)
    .where('local_part', 'in', localParts)
    .execute()
}
