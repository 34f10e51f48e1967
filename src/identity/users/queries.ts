import { sql } from 'kysely'

import type { Role } from '#base/actor.ts'
import { inPool, ofUser } from '#identity/user-key.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'

import type { AccountStatus, AccountStatusKey, User } from './model.ts'

export interface NewUser {
  readonly userPoolId: string
  readonly sub: string
  readonly email: string
  readonly emailVerified: boolean
  readonly externalEmail?: string | null
  readonly name?: string | null
  readonly role: Role | null
  readonly status: 'INVITED' | 'ACTIVE'
  readonly origin: 'invite' | 'operator' | 'sign-up' | 'provider'
}

const ACTIVE_EMAIL = sql<string>`case when active_address = 'external' and external_email is not null
  then external_email else email end`

/** Does nothing when the pool has a user with that address. */
export async function insertUser(tx: SiteTx, user: NewUser, now: Date): Promise<void> {
  await tx.db
    .insertInto('pool_user')
    .values({
      site_id: tx.siteId,
      user_pool_id: user.userPoolId,
      sub: user.sub,
      email: user.email,
      email_verified: user.emailVerified,
      external_email: user.externalEmail ?? null,
      name: user.name ?? null,
      role: user.role,
      status: user.status,
      origin: user.origin,
      created_at: now,
      updated_at: now,
    })
    .onConflict((on) => on.columns(['site_id', 'user_pool_id', 'email']).doNothing())
    .execute()
}

export function selectUser(tx: SiteTx, userPoolId: string, sub: string): Promise<User | undefined> {
  return users(tx, userPoolId).where('sub', '=', sub).executeTakeFirst()
}

export function selectUserByEmail(
  tx: SiteTx,
  userPoolId: string,
  email: string,
): Promise<User | undefined> {
  return users(tx, userPoolId).where('email', '=', email).executeTakeFirst()
}

/** Whether a visitor of the site has that address. */
export async function selectVisitorExists(tx: SiteTx, email: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('pool_user')
    .innerJoin('user_pool', (join) =>
      join
        .onRef('user_pool.site_id', '=', 'pool_user.site_id')
        .onRef('user_pool.user_pool_id', '=', 'pool_user.user_pool_id'),
    )
    .select('pool_user.sub')
    .where('pool_user.site_id', '=', tx.siteId)
    .where('user_pool.kind', '=', 'data')
    .where('pool_user.email', '=', email)
    .executeTakeFirst()
  return row !== undefined
}

/** By primary keys, in one round trip: runs for every request with an admin token. `familyId` is the token's `origin_jti`. */
export async function selectAccountStatus(
  database: Database,
  siteId: string,
  { userPoolId, sub, familyId }: AccountStatusKey,
): Promise<AccountStatus | undefined> {
  const [row] = await database.statement<AccountStatus>(
    `select email, role, tokens_valid_after as "tokensValidAfter", groups, signed_out as "signedOut"
    from user_standing($1, $2, $3, $4)`,
    [siteId, userPoolId, sub, familyId ?? null],
  )
  return row
}

export async function updateTokensValidAfter(
  tx: SiteTx,
  userPoolId: string,
  sub: string,
  moment: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('pool_user')
    .set({ tokens_valid_after: moment, updated_at: moment })
    .where(ofUser(tx, { userPoolId, sub }))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** By `sub`, so that two who lock them do it in the same order. */
export function selectInvitedSuperAdminsForUpdate(
  tx: SiteTx,
  userPoolId: string,
  filter: { readonly emails: readonly string[]; readonly limit: number },
): Promise<User[]> {
  const { emails, limit } = filter
  return users(tx, userPoolId)
    .where('role', '=', 'super-admin')
    .where('status', '=', 'INVITED')
    .$if(emails.length > 0, (query) =>
      query.where((row) =>
        row.or([row('email', 'in', emails), row('external_email', 'in', emails)]),
      ),
    )
    .orderBy('sub')
    .limit(limit)
    .forUpdate()
    .execute()
}

/** Undefined unless the user is still to come; locks the row until the transaction ends. */
export function selectInvitedForUpdate(
  tx: SiteTx,
  userPoolId: string,
  sub: string,
): Promise<User | undefined> {
  return users(tx, userPoolId)
    .where('sub', '=', sub)
    .where('status', '=', 'INVITED')
    .forUpdate()
    .executeTakeFirst()
}

/** Super-admins are users of the admin pool; visitors have no role. */
export async function selectSuperAdminEmails(tx: SiteTx, limit: number): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('pool_user')
    .select('email')
    .where('site_id', '=', tx.siteId)
    .where('role', '=', 'super-admin')
    .orderBy('created_at')
    .orderBy('email')
    .limit(limit)
    .execute()
  return rows.map(({ email }) => email)
}

const users = (tx: SiteTx, userPoolId: string) =>
  tx.db
    .selectFrom('pool_user')
    .select([
      'user_pool_id as userPoolId',
      'sub',
      'email',
      'email_verified as emailVerified',
      'external_email as externalEmail',
      'name',
      ACTIVE_EMAIL.as('activeEmail'),
      'role',
      'status',
      'tokens_valid_after as tokensValidAfter',
    ])
    .where(inPool(tx, userPoolId))
