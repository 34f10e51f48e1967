import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

/** A password as the database keeps it. */
export interface StoredPassword {
  readonly hash: string
  readonly sealedSrp: Buffer | null
}

const rowOf = (tx: SiteTx, owner: UserKey, stored: StoredPassword, now: Date) => ({
  site_id: tx.siteId,
  user_pool_id: owner.userPoolId,
  sub: owner.sub,
  hash: stored.hash,
  sealed_srp: stored.sealedSrp,
  updated_at: now,
})

export async function upsertPassword(
  tx: SiteTx,
  owner: UserKey,
  stored: StoredPassword,
  now: Date,
): Promise<void> {
  const { hash, sealed_srp, updated_at } = rowOf(tx, owner, stored, now)
  await tx.db
    .insertInto('user_password')
    .values(rowOf(tx, owner, stored, now))
    .onConflict((on) =>
      on.columns(['site_id', 'user_pool_id', 'sub']).doUpdateSet({ hash, sealed_srp, updated_at }),
    )
    .execute()
}

export async function deletePassword(tx: SiteTx, owner: UserKey): Promise<void> {
  await tx.db.deleteFrom('user_password').where(ofUser(tx, owner)).execute()
}

/** False when there is a password. */
export async function insertPassword(
  tx: SiteTx,
  owner: UserKey,
  stored: StoredPassword,
  now: Date,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx.db
    .insertInto('user_password')
    .values(rowOf(tx, owner, stored, now))
    .onConflict((on) => on.columns(['site_id', 'user_pool_id', 'sub']).doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

/** False when the password is not the one of `oldHash` any more. */
export async function updatePassword(
  tx: SiteTx,
  owner: UserKey,
  change: { readonly oldHash: string; readonly stored: StoredPassword },
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('user_password')
    .set({ hash: change.stored.hash, sealed_srp: change.stored.sealedSrp, updated_at: now })
    .where(ofUser(tx, owner))
    .where('hash', '=', change.oldHash)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export function selectPassword(tx: SiteTx, owner: UserKey): Promise<StoredPassword | undefined> {
  return tx.db
    .selectFrom('user_password')
    .select(['hash', 'sealed_srp as sealedSrp'])
    .where(ofUser(tx, owner))
    .executeTakeFirst()
}

/** The key of another installation, sealed. */
export async function selectPasswordKey(tx: SiteTx, keyId: string): Promise<Buffer | undefined> {
  const row = await tx.db
    .selectFrom('password_key')
    .select('sealed')
    .where('site_id', '=', tx.siteId)
    .where('key_id', '=', keyId)
    .executeTakeFirst()
  return row?.sealed
}
