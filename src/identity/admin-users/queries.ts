import type { Role } from '#base/actor.ts'
import type { PageRequest } from '#base/page.ts'
import { type UserKey, inPool, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { beginsWith, isText } from '#platform/postgres/text-search.ts'

import type { AdminUser } from './model.ts'

/** Deletions and changes of roles in a pool happen one after another, so that each sees what the one before left. */
export async function lockPool(tx: SiteTx, userPoolId: string): Promise<void> {
  await tx.db
    .selectFrom('user_pool')
    .select('user_pool_id')
    .where(inPool(tx, userPoolId))
    .forNoKeyUpdate()
    .execute()
}

/** Which users, by either of their addresses; both fields in the spelling in which addresses are stored. */
export interface AdminUserFilter {
  readonly email?: string | undefined
  /** What an address begins with. */
  readonly prefix?: string | undefined
}

/** By address; one more than the limit when there is a next page. */
export function selectAdminUsers(
  tx: SiteTx,
  userPoolId: string,
  page: PageRequest & AdminUserFilter,
): Promise<AdminUser[]> {
  const { after, email, prefix } = page
  return tx.db
    .selectFrom('pool_user')
    .select(['sub as userId', 'email', 'external_email as externalEmail'])
    .select((row) => [
      row.ref('role').$notNull().as('role'),
      row.ref('status').$castTo<AdminUser['status']>().as('status'),
    ])
    .where(inPool(tx, userPoolId))
    .$if(after !== undefined, (query) => query.where('email', '>', after ?? ''))
    .$if(email !== undefined, (query) =>
      query.where((row) =>
        row.or([isText('email', email ?? ''), isText('external_email', email ?? '')]),
      ),
    )
    .$if(prefix !== undefined, (query) =>
      query.where((row) =>
        row.or([beginsWith('email', prefix ?? ''), beginsWith('external_email', prefix ?? '')]),
      ),
    )
    .orderBy('email')
    .limit(page.limit + 1)
    .execute()
}

/** The states of the super-admins besides one. */
export async function selectOtherSuperAdmins(
  tx: SiteTx,
  userPoolId: string,
  sub: string,
): Promise<readonly ('INVITED' | 'ACTIVE')[]> {
  const rows = await tx.db
    .selectFrom('pool_user')
    .select((row) => row.ref('status').$castTo<AdminUser['status']>().as('status'))
    .distinct()
    .where(inPool(tx, userPoolId))
    .where('role', '=', 'super-admin')
    .where('sub', '!=', sub)
    .execute()
  return rows.map(({ status }) => status)
}

export async function updateRole(
  tx: SiteTx,
  user: { readonly userPoolId: string; readonly sub: string; readonly role: Role },
  now: Date,
): Promise<void> {
  await tx.db
    .updateTable('pool_user')
    .set({ role: user.role, tokens_valid_after: now, updated_at: now })
    .where(ofUser(tx, user))
    .execute()
}

/** With everything that hangs on it: password, sign-ins, codes, invitations. */
export async function deleteUser(tx: SiteTx, userPoolId: string, sub: string): Promise<void> {
  await tx.db.deleteFrom('pool_user').where(ofUser(tx, { userPoolId, sub })).execute()
}

/** Those of these who are in the site's admin pool. They stay until the transaction ends. */
export function shareLockAdminUsers(
  tx: SiteTx,
  { subs, emails }: { readonly subs: readonly string[]; readonly emails: readonly string[] },
): Promise<(UserKey & { readonly email: string })[]> {
  return tx.db
    .selectFrom('pool_user')
    .innerJoin('user_pool', (join) =>
      join
        .onRef('user_pool.site_id', '=', 'pool_user.site_id')
        .onRef('user_pool.user_pool_id', '=', 'pool_user.user_pool_id'),
    )
    .select(['pool_user.user_pool_id as userPoolId', 'pool_user.sub', 'pool_user.email'])
    .where('pool_user.site_id', '=', tx.siteId)
    .where('user_pool.kind', '=', 'admin')
    .where((row) =>
      row.or([row('pool_user.sub', 'in', subs), row('pool_user.email', 'in', emails)]),
    )
    .forKeyShare('pool_user')
    .execute()
}
