import { sql } from 'kysely'

import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { UserStatus } from '#identity/users/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { OpenInvite } from './model.ts'

/** Undefined when the account is gone. Others who change the account wait until the transaction ends. */
export function lockUser(
  tx: SiteTx,
  { userPoolId, sub }: UserKey,
): Promise<{ readonly status: UserStatus } | undefined> {
  return tx.db
    .selectFrom('pool_user')
    .select('status')
    .where(ofUser(tx, { userPoolId, sub }))
    .forUpdate()
    .executeTakeFirst()
}

/** Does nothing when the account's address is another one. */
export async function markVerified(
  tx: SiteTx,
  { userPoolId, sub, email }: UserKey & { readonly email: string },
  now: Date,
): Promise<void> {
  await tx.db
    .updateTable('pool_user')
    .set({ email_verified: true, updated_at: now })
    .where(ofUser(tx, { userPoolId, sub }))
    .where('email', '=', email)
    .where('email_verified', '=', false)
    .execute()
}

/** False when the account is not waiting for its owner any more. */
export async function activateInvited(
  tx: SiteTx,
  { userPoolId, sub }: UserKey,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('pool_user')
    .set({
      status: 'ACTIVE',
      // The link went to the external address when there is one: that proves nothing about the other.
      email_verified: sql<boolean>`external_email is null`,
      updated_at: now,
    })
    .where(ofUser(tx, { userPoolId, sub }))
    .where('status', '=', 'INVITED')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

const invitesByToken = (tx: SiteTx, tokenHash: Buffer) =>
  tx.db
    .selectFrom('user_invite as invite')
    .innerJoin('pool_user as account', (join) =>
      join
        .onRef('account.site_id', '=', 'invite.site_id')
        .onRef('account.user_pool_id', '=', 'invite.user_pool_id')
        .onRef('account.sub', '=', 'invite.sub'),
    )
    .where('invite.site_id', '=', tx.siteId)
    .where('invite.token_hash', '=', tokenHash)

/** An invite as it is, with its account. */
export function selectInvite(tx: SiteTx, tokenHash: Buffer) {
  return invitesByToken(tx, tokenHash)
    .select([
      'account.user_pool_id as userPoolId',
      'account.sub',
      'account.email',
      'account.status',
      'invite.used_at as usedAt',
      'invite.expires_at as expiresAt',
    ])
    .executeTakeFirst()
}

/** Who an unused invite is for. */
export function selectOpenInvite(
  tx: SiteTx,
  tokenHash: Buffer,
  now: Date,
): Promise<(UserKey & OpenInvite) | undefined> {
  return invitesByToken(tx, tokenHash)
    .select(['account.user_pool_id as userPoolId', 'account.sub', 'account.email', 'account.role'])
    .where('invite.used_at', 'is', null)
    .where('invite.expires_at', '>', now)
    .where('account.status', '=', 'INVITED')
    .executeTakeFirst()
}
