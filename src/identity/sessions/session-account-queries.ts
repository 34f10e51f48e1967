import { sql } from 'kysely'

import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { SessionAccount } from './model.ts'

const sessionAccounts = (tx: SiteTx, userPoolId: string, sub: string) =>
  tx.db
    .selectFrom('pool_user')
    .select([
      'sub',
      'email',
      'email_verified as emailVerified',
      'name',
      'language',
      'role',
      'tokens_valid_after as tokensValidAfter',
      'sign_ins_valid_after as signInsValidAfter',
    ])
    .select(
      sql<string[]>`array(
        select group_name from data_group_member
        where site_id = ${tx.siteId} and user_pool_id = ${userPoolId} and sub = ${sub}
        order by group_name)`.as('groups'),
    )
    .where(ofUser(tx, { userPoolId, sub }))
    .where('status', '=', 'ACTIVE')

export const selectSessionAccount = (
  tx: SiteTx,
  userPoolId: string,
  sub: string,
): Promise<SessionAccount | undefined> => sessionAccounts(tx, userPoolId, sub).executeTakeFirst()

/** The lock makes a sign-out everywhere happen wholly before or wholly after the transaction. */
export const lockSessionAccount = (
  tx: SiteTx,
  userPoolId: string,
  sub: string,
): Promise<SessionAccount | undefined> =>
  sessionAccounts(tx, userPoolId, sub).forShare().executeTakeFirst()

export async function updateLanguage(tx: SiteTx, user: UserKey, language: string): Promise<void> {
  await tx.db.updateTable('pool_user').set({ language }).where(ofUser(tx, user)).execute()
}
