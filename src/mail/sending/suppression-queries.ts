import type { SiteTx } from '#platform/postgres/database.ts'

export async function insertSuppression(
  tx: SiteTx,
  address: string,
  detail: string,
  now: Date,
): Promise<void> {
  await tx.db
    .insertInto('mail_suppression')
    .values({ site_id: tx.siteId, address, reason: 'BOUNCE', detail, created_at: now })
    .onConflict((on) => on.doNothing())
    .execute()
}

export async function selectSuppressedAmong(
  tx: SiteTx,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  if (addresses.length === 0) return new Set()
  const rows = await tx.db
    .selectFrom('mail_suppression')
    .select('address')
    .where('site_id', '=', tx.siteId)
    .where('address', 'in', addresses)
    .execute()
  return new Set(rows.map(({ address }) => address))
}

export function selectSuppressions(
  tx: SiteTx,
  { limit, after }: { readonly limit: number; readonly after: string | undefined },
) {
  return tx.db
    .selectFrom('mail_suppression')
    .select(['address', 'reason', 'detail', 'created_at as createdAt'])
    .where('site_id', '=', tx.siteId)
    .$if(after !== undefined, (query) => query.where('address', '>', after ?? ''))
    .orderBy('address')
    .limit(limit)
    .execute()
}

/** Returns false when it was not there. */
export async function deleteSuppression(tx: SiteTx, address: string): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('mail_suppression')
    .where('site_id', '=', tx.siteId)
    .where('address', '=', address)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
