import type { SiteTx } from '#platform/postgres/database.ts'

/** Returns false for one that is there already. */
export async function insertAssertion(
  tx: SiteTx,
  assertion: { readonly clientId: string; readonly jtiHash: Buffer; readonly expiresAt: Date },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx.db
    .insertInto('client_assertion')
    .values({
      site_id: tx.siteId,
      client_id: assertion.clientId,
      jti_hash: assertion.jtiHash,
      expires_at: assertion.expiresAt,
    })
    .onConflict((conflict) => conflict.columns(['site_id', 'client_id', 'jti_hash']).doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}
