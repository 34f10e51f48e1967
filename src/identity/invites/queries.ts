import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

export async function insertInvite(
  tx: SiteTx,
  invite: UserKey & {
    readonly tokenHash: Buffer
    readonly createdAt: Date
    readonly expiresAt: Date
  },
): Promise<void> {
  await tx.db
    .insertInto('user_invite')
    .values({
      site_id: tx.siteId,
      token_hash: invite.tokenHash,
      user_pool_id: invite.userPoolId,
      sub: invite.sub,
      created_at: invite.createdAt,
      expires_at: invite.expiresAt,
      used_at: null,
    })
    .execute()
}

export async function deleteUnusedInvites(tx: SiteTx, invitee: UserKey): Promise<void> {
  await tx.db
    .deleteFrom('user_invite')
    .where(ofUser(tx, invitee))
    .where('used_at', 'is', null)
    .execute()
}

export function selectInvitee(
  tx: SiteTx,
  tokenHash: Buffer,
  now: Date,
): Promise<UserKey | undefined> {
  return tx.db
    .selectFrom('user_invite')
    .select(['user_pool_id as userPoolId', 'sub'])
    .where('site_id', '=', tx.siteId)
    .where('token_hash', '=', tokenHash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

/** False unless the user is still to come. A writer that changes a user locks the row first, and the invites after it. */
export async function lockInvited(tx: SiteTx, invitee: UserKey): Promise<boolean> {
  const user = await tx.db
    .selectFrom('pool_user')
    .select('sub')
    .where(ofUser(tx, invitee))
    .where('status', '=', 'INVITED')
    .forUpdate()
    .executeTakeFirst()
  return user !== undefined
}

/** When two redeem the same invite at once, one of them gets the row. */
export function markInviteUsed(
  tx: SiteTx,
  tokenHash: Buffer,
  now: Date,
): Promise<UserKey | undefined> {
  return tx.db
    .updateTable('user_invite')
    .set({ used_at: now })
    .where('site_id', '=', tx.siteId)
    .where('token_hash', '=', tokenHash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returning(['user_pool_id as userPoolId', 'sub'])
    .executeTakeFirst()
}

/** That in which they last signed in. */
export async function selectUserLanguage(tx: SiteTx, user: UserKey): Promise<string | undefined> {
  const row = await tx.db
    .selectFrom('pool_user')
    .select('language')
    .where(ofUser(tx, user))
    .executeTakeFirst()
  return row?.language ?? undefined
}
