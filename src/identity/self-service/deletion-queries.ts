import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

/** Replaces the link of one that was begun before. */
export async function upsertDeletion(
  tx: SiteTx,
  user: UserKey,
  deletion: { readonly tokenHash: Buffer; readonly createdAt: Date; readonly expiresAt: Date },
): Promise<void> {
  const values = {
    token_hash: deletion.tokenHash,
    created_at: deletion.createdAt,
    expires_at: deletion.expiresAt,
  }
  await tx.db
    .insertInto('account_deletion')
    .values({ site_id: tx.siteId, user_pool_id: user.userPoolId, sub: user.sub, ...values })
    .onConflict((on) => on.columns(['site_id', 'user_pool_id', 'sub']).doUpdateSet(values))
    .execute()
}

/** Gives the deletion another link, for one that was lost. Undefined when the account is not being deleted, or its time is over. */
export function updateDeletionToken(
  tx: SiteTx,
  user: UserKey,
  tokenHash: Buffer,
  now: Date,
): Promise<{ readonly expiresAt: Date } | undefined> {
  return tx.db
    .updateTable('account_deletion')
    .set({ token_hash: tokenHash })
    .where(ofUser(tx, user))
    .where('expires_at', '>', now)
    .returning('expires_at as expiresAt')
    .executeTakeFirst()
}

export interface StoredDeletion extends UserKey {
  readonly expiresAt: Date
}

/** The deletion whose link has that token, while the link is good. */
export function selectDeletion(
  tx: SiteTx,
  tokenHash: Buffer,
  now: Date,
): Promise<StoredDeletion | undefined> {
  return tx.db
    .selectFrom('account_deletion')
    .select(['user_pool_id as userPoolId', 'sub', 'expires_at as expiresAt'])
    .where('site_id', '=', tx.siteId)
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

export function selectDueDeletions(
  tx: SiteTx,
  now: Date,
  limit: number,
): Promise<readonly UserKey[]> {
  return tx.db
    .selectFrom('account_deletion')
    .select(['user_pool_id as userPoolId', 'sub'])
    .where('site_id', '=', tx.siteId)
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute()
}

/** False when there is none any more, or its time is not over. */
export async function deleteDueDeletion(tx: SiteTx, user: UserKey, now: Date): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('account_deletion')
    .where(ofUser(tx, user))
    .where('expires_at', '<=', now)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** When the next account goes; undefined when none does. */
export async function selectNextDeletion(tx: SiteTx): Promise<Date | undefined> {
  const next = await tx.db
    .selectFrom('account_deletion')
    .select('expires_at as expiresAt')
    .where('site_id', '=', tx.siteId)
    .orderBy('expires_at')
    .limit(1)
    .executeTakeFirst()
  return next?.expiresAt
}
