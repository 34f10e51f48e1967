import { sql } from 'kysely'

import type { PageRequest } from '#base/page.ts'
import { type UserKey, inPool, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { beginsWith, isText } from '#platform/postgres/text-search.ts'

import type { VisitorAccount, VisitorAccountDetail, VisitorSearch, VisitorStatus } from './model.ts'

const visitors = (tx: SiteTx, userPoolId: string) =>
  tx.db
    .selectFrom('pool_user')
    .select([
      'sub',
      'email as username',
      'email_verified as emailVerified',
      'origin',
      'created_at as createdAt',
      'updated_at as updatedAt',
    ])
    .select((row) => [
      row.ref('status').$castTo<VisitorStatus>().as('status'),
      sql<Date | null>`(select expires_at from account_deletion as deletion
        where deletion.site_id = pool_user.site_id and deletion.user_pool_id = pool_user.user_pool_id
          and deletion.sub = pool_user.sub)`.as('deletedAt'),
    ])
    .where(inPool(tx, userPoolId))

/** By address; one more than the limit when there is a next page. */
export function selectVisitors(
  tx: SiteTx,
  userPoolId: string,
  { after, limit, email, q, status }: PageRequest & VisitorSearch,
): Promise<VisitorAccount[]> {
  return visitors(tx, userPoolId)
    .$if(after !== undefined, (query) => query.where(sql`email collate "C"`, '>', after ?? ''))
    .$if(email !== undefined, (query) => query.where(isText('email', email ?? '')))
    .$if(q !== undefined, (query) => query.where(beginsWith('email', q ?? '')))
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'ACTIVE'))
    .orderBy(sql`email collate "C"`)
    .limit(limit + 1)
    .execute()
}

/** Others who change the account wait until the transaction ends. */
export const selectVisitorForUpdate = (
  tx: SiteTx,
  { userPoolId, sub }: UserKey,
): Promise<VisitorAccount | undefined> =>
  visitors(tx, userPoolId).where('sub', '=', sub).forUpdate().executeTakeFirst()

export async function selectVisitor(
  tx: SiteTx,
  user: UserKey,
  now: Date,
): Promise<VisitorAccountDetail | undefined> {
  const { userPoolId, sub } = user
  const own = sql`site_id = ${tx.siteId} and user_pool_id = ${userPoolId} and sub = ${sub}`
  return visitors(tx, userPoolId)
    .select([
      sql<string[]>`array(select group_name from data_group_member where ${own}
        order by group_name)`.as('groups'),
      sql<VisitorAccountDetail['signInMethods']>`array_remove(array[
        case when exists (select from user_password where ${own}) then 'password' end,
        case when exists (select from user_identity where ${own}) then 'google' end], null)`.as(
        'signInMethods',
      ),
      sql<boolean>`exists (select from user_totp where ${own})`.as('secondFactor'),
      sql<Date | null>`greatest(
        (select max(last_seen_at) from sign_in_session where ${own} and expires_at > ${now}),
        (select max(token.created_at) from refresh_family as family
          join refresh_token as token using (site_id, family_id)
          where family.site_id = ${tx.siteId} and family.user_pool_id = ${userPoolId}
            and family.sub = ${sub} and family.expires_at > ${now}
            and family.revoked_at is null))`.as('lastSeenAt'),
    ])
    .where('sub', '=', sub)
    .executeTakeFirst()
}

export async function updateVisitorStatus(
  tx: SiteTx,
  user: UserKey,
  status: VisitorStatus,
  now: Date,
): Promise<void> {
  await tx.db
    .updateTable('pool_user')
    .set({ status, updated_at: now })
    .where(ofUser(tx, user))
    .execute()
}

export async function deleteDeletion(tx: SiteTx, user: UserKey): Promise<void> {
  await tx.db.deleteFrom('account_deletion').where(ofUser(tx, user)).execute()
}

/** With everything that hangs on it: password, providers, groups, sign-ins, codes; and sign-ups with its address. */
export async function deleteVisitor(
  tx: SiteTx,
  { userPoolId, sub, email }: UserKey & { readonly email: string },
): Promise<void> {
  await tx.db.deleteFrom('pool_user').where(ofUser(tx, { userPoolId, sub })).execute()
  await tx.db
    .deleteFrom('pending_sign_up')
    .where(inPool(tx, userPoolId))
    .where('email', '=', email)
    .execute()
}
