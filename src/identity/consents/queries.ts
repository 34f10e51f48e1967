import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

export interface StoredConsent {
  readonly clientId: string
  readonly scope: string
  readonly grantedAt: Date
}

const consents = (tx: SiteTx, user: UserKey) =>
  tx.db
    .selectFrom('client_consent')
    .select(['client_id as clientId', 'scope', 'granted_at as grantedAt'])
    .where(ofUser(tx, user))

/** Blocks a withdrawal during the transaction: a later one finds the code that is issued on it. */
export const lockConsent = (
  tx: SiteTx,
  user: UserKey,
  clientId: string,
): Promise<StoredConsent | undefined> =>
  consents(tx, user).where('client_id', '=', clientId).forNoKeyUpdate().executeTakeFirst()

/** The newest first. */
export const selectConsents = (tx: SiteTx, user: UserKey): Promise<StoredConsent[]> =>
  consents(tx, user).orderBy('granted_at', 'desc').orderBy('client_id').execute()

export async function upsertConsent(
  tx: SiteTx,
  user: UserKey,
  consent: StoredConsent,
): Promise<void> {
  const values = { scope: consent.scope, granted_at: consent.grantedAt }
  await tx.db
    .insertInto('client_consent')
    .values({
      site_id: tx.siteId,
      user_pool_id: user.userPoolId,
      sub: user.sub,
      client_id: consent.clientId,
      ...values,
    })
    .onConflict((conflict) =>
      conflict.columns(['site_id', 'user_pool_id', 'sub', 'client_id']).doUpdateSet(values),
    )
    .execute()
}

/** Returns whether it was there. */
export async function deleteConsent(tx: SiteTx, user: UserKey, clientId: string): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('client_consent')
    .where(ofUser(tx, user))
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
