import { sql } from 'kysely'

import { type UserKey, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { ListedSince, SessionView } from './model.ts'

export interface NewFamily {
  readonly familyId: string
  readonly userPoolId: string
  readonly clientId: string
  readonly sub: string
  readonly sessionId: string | null
  readonly scope: string
  readonly authTime: Date
  readonly userAgent: string
  readonly address: string
  readonly createdAt: Date
  readonly expiresAt: Date
}

export async function insertFamily(tx: SiteTx, family: NewFamily): Promise<void> {
  await tx.db
    .insertInto('refresh_family')
    .values({
      site_id: tx.siteId,
      family_id: family.familyId,
      user_pool_id: family.userPoolId,
      client_id: family.clientId,
      sub: family.sub,
      session_id: family.sessionId,
      scope: family.scope,
      auth_time: family.authTime,
      user_agent: family.userAgent,
      address: family.address,
      created_at: family.createdAt,
      expires_at: family.expiresAt,
      revoked_at: null,
    })
    .execute()
}

const revokeLiveFamilies = (tx: SiteTx, user: UserKey, now: Date) =>
  tx.db
    .updateTable('refresh_family')
    .set({ revoked_at: now })
    .where(ofUser(tx, user))
    .where('revoked_at', 'is', null)
    .returning('family_id as familyId')

type RevokedFamilies = Promise<{ readonly familyId: string }[]>

/** Responses that a client could still ask for again. */
export async function deleteRefreshResponses(
  tx: SiteTx,
  familyIds: readonly string[],
): Promise<void> {
  await tx.db
    .deleteFrom('refresh_response')
    .where('site_id', '=', tx.siteId)
    .where('family_id', 'in', familyIds)
    .execute()
}

export const revokeFamily = (
  tx: SiteTx,
  user: UserKey,
  familyId: string,
  now: Date,
): RevokedFamilies => revokeLiveFamilies(tx, user, now).where('family_id', '=', familyId).execute()

export const revokeFamiliesOfClient = (
  tx: SiteTx,
  user: UserKey,
  clientId: string,
  now: Date,
): RevokedFamilies => revokeLiveFamilies(tx, user, now).where('client_id', '=', clientId).execute()

/** Revokes the families of a browser's session, or the one family that a session of that id stands for. */
export const revokeFamiliesOfSession = (
  tx: SiteTx,
  user: UserKey,
  sessionId: string,
  now: Date,
): RevokedFamilies =>
  revokeLiveFamilies(tx, user, now)
    .where((where) =>
      where.or([where('session_id', '=', sessionId), where('family_id', '=', sessionId)]),
    )
    .execute()

/** Revokes those without a browser session beyond the newest. */
export const revokeSurplusFamilies = (
  tx: SiteTx,
  user: UserKey,
  kept: number,
  now: Date,
): RevokedFamilies =>
  revokeLiveFamilies(tx, user, now)
    .where('session_id', 'is', null)
    .where('family_id', 'in', (families) =>
      families
        .selectFrom('refresh_family')
        .select('family_id')
        .where('site_id', '=', tx.siteId)
        .where('user_pool_id', '=', user.userPoolId)
        .where('sub', '=', user.sub)
        .where('session_id', 'is', null)
        .where('revoked_at', 'is', null)
        .orderBy('created_at', 'desc')
        .offset(kept),
    )
    .execute()

export interface KeptSignIn {
  readonly sessionId: string | null
  readonly familyId: string | null
}

export const revokeFamiliesOfUser = (
  tx: SiteTx,
  user: UserKey,
  kept: KeptSignIn,
  now: Date,
): RevokedFamilies =>
  revokeLiveFamilies(tx, user, now)
    // Null keeps none: families without a session do not belong together.
    .$if(kept.sessionId !== null, (families) =>
      families.where('session_id', 'is distinct from', kept.sessionId),
    )
    .where('family_id', 'is distinct from', kept.familyId)
    .execute()

export function selectSessionOfFamily(
  tx: SiteTx,
  user: UserKey,
  familyId: string,
): Promise<{ readonly sessionId: string | null } | undefined> {
  return tx.db
    .selectFrom('refresh_family')
    .select('session_id as sessionId')
    .where(ofUser(tx, user))
    .where('family_id', '=', familyId)
    .executeTakeFirst()
}

/** Families without a browser session. */
export function selectFamiliesWithoutSession(
  tx: SiteTx,
  user: UserKey,
  { now, usedAfter, limit }: ListedSince,
): Promise<SessionView[]> {
  const lastRefresh = sql<Date>`coalesce((
    select max(token.created_at) from refresh_token token
    where token.site_id = ${tx.siteId} and token.family_id = family.family_id), family.created_at)`
  return tx.db
    .selectFrom('refresh_family as family')
    .select([
      'family.family_id as sessionId',
      sql<null>`null`.as('method'),
      'family.user_agent as userAgent',
      'family.address',
      'family.created_at as createdAt',
      lastRefresh.as('lastSeenAt'),
      'family.expires_at as expiresAt',
    ])
    .where('family.site_id', '=', tx.siteId)
    .where('family.user_pool_id', '=', user.userPoolId)
    .where('family.sub', '=', user.sub)
    .where('family.revoked_at', 'is', null)
    .where('family.expires_at', '>', now)
    .where(lastRefresh, '>', usedAfter)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('sign_in_session as session')
            .select('session.session_id')
            .whereRef('session.site_id', '=', 'family.site_id')
            .whereRef('session.session_id', '=', 'family.session_id')
            .where('session.expires_at', '>', now)
            .where('session.last_seen_at', '>', usedAfter),
        ),
      ),
    )
    .orderBy('family.created_at', 'desc')
    .limit(limit)
    .execute()
}
