import { type UserKey, inPool, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

export interface StoredAddressChange extends UserKey {
  readonly changeId: string
  readonly oldEmail: string
  readonly newEmail: string
  readonly createdAt: Date
  readonly provenAt: Date | null
  /** The admin who asked for it; null for the owner. */
  readonly requestedBy: string | null
}

export async function insertAddressChange(
  tx: SiteTx,
  change: Omit<StoredAddressChange, 'provenAt'> & {
    readonly tokenHash: Buffer
    readonly expiresAt: Date
  },
): Promise<void> {
  await tx.db
    .insertInto('address_change')
    .values({
      site_id: tx.siteId,
      change_id: change.changeId,
      user_pool_id: change.userPoolId,
      sub: change.sub,
      old_email: change.oldEmail,
      new_email: change.newEmail,
      token_hash: change.tokenHash,
      proven_at: null,
      created_at: change.createdAt,
      expires_at: change.expiresAt,
      requested_by: change.requestedBy,
    })
    .execute()
}

const goodChanges = (tx: SiteTx, now: Date) =>
  tx.db
    .selectFrom('address_change')
    .select([
      'change_id as changeId',
      'user_pool_id as userPoolId',
      'sub',
      'old_email as oldEmail',
      'new_email as newEmail',
      'created_at as createdAt',
      'proven_at as provenAt',
      'requested_by as requestedBy',
    ])
    .where('site_id', '=', tx.siteId)
    .where('expires_at', '>', now)

/** The change whose link has that token, while the link is good. */
export const selectAddressChange = (
  tx: SiteTx,
  tokenHash: Buffer,
  now: Date,
): Promise<StoredAddressChange | undefined> =>
  goodChanges(tx, now).where('token_hash', '=', tokenHash).executeTakeFirst()

/** The change of an account that waits for its proof. */
export const selectPendingChange = (
  tx: SiteTx,
  user: UserKey,
  now: Date,
): Promise<StoredAddressChange | undefined> =>
  goodChanges(tx, now).where(ofUser(tx, user)).where('proven_at', 'is', null).executeTakeFirst()

/** The address that an account is to have once it is proven. */
export async function selectPendingEmail(
  tx: SiteTx,
  user: UserKey,
  now: Date,
): Promise<string | undefined> {
  return (await selectPendingChange(tx, user, now))?.newEmail
}

/** The link to the old address takes the place of the one to the new one. */
export async function markProven(
  tx: SiteTx,
  changeId: string,
  proven: { readonly tokenHash: Buffer; readonly provenAt: Date; readonly expiresAt: Date },
): Promise<void> {
  await tx.db
    .updateTable('address_change')
    .set({
      token_hash: proven.tokenHash,
      proven_at: proven.provenAt,
      expires_at: proven.expiresAt,
    })
    .where('site_id', '=', tx.siteId)
    .where('change_id', '=', changeId)
    .execute()
}

export async function deletePendingChanges(tx: SiteTx, user: UserKey): Promise<void> {
  await tx.db
    .deleteFrom('address_change')
    .where(ofUser(tx, user))
    .where('proven_at', 'is', null)
    .execute()
}

export async function deleteAddressChanges(tx: SiteTx, user: UserKey): Promise<void> {
  await tx.db.deleteFrom('address_change').where(ofUser(tx, user)).execute()
}

/** The account that has the address, or may still take it back. */
export async function selectEmailHolder(
  tx: SiteTx,
  userPoolId: string,
  email: string,
  now: Date,
): Promise<{ readonly sub: string } | undefined> {
  const holder = await tx.db
    .selectFrom('pool_user')
    .select('sub')
    .where(inPool(tx, userPoolId))
    .where('email', '=', email)
    .executeTakeFirst()
  return (
    holder ??
    (await tx.db
      .selectFrom('address_change')
      .select('sub')
      .where(inPool(tx, userPoolId))
      .where('old_email', '=', email)
      .where('proven_at', 'is not', null)
      .where('expires_at', '>', now)
      .executeTakeFirst())
  )
}
