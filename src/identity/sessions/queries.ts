import { type UserKey, inPool, ofUser } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { ListedSince, Session, SessionView, SignInMethod } from './model.ts'

/** A session's id belongs to one user of one pool; what does not match is not found. */
export interface SessionKey extends UserKey {
  readonly sessionId: string
}

export interface NewSession extends SessionKey {
  readonly tokenHash: Buffer
  readonly method: SignInMethod
  readonly authTime: Date
  readonly userAgent: string
  readonly address: string
  readonly createdAt: Date
  readonly expiresAt: Date
}

export async function insertSession(tx: SiteTx, session: NewSession): Promise<void> {
  await tx.db
    .insertInto('sign_in_session')
    .values({
      site_id: tx.siteId,
      session_id: session.sessionId,
      user_pool_id: session.userPoolId,
      sub: session.sub,
      created_at: session.createdAt,
      ...renewedColumns(session),
    })
    .execute()
}

/** For the same user in the same browser: the session keeps its id and its tokens, and gets another token for the cookie. */
export async function renewSession(tx: SiteTx, session: NewSession): Promise<void> {
  await tx.db
    .updateTable('sign_in_session')
    .set(renewedColumns(session))
    .where('site_id', '=', tx.siteId)
    .where('session_id', '=', session.sessionId)
    .execute()
}

const renewedColumns = (session: NewSession) => ({
  token_hash: session.tokenHash,
  auth_time: session.authTime,
  method: session.method,
  user_agent: session.userAgent,
  address: session.address,
  last_seen_at: session.createdAt,
  expires_at: session.expiresAt,
})

/**
 * Locks the session: transactions that end or use it wait for this one. The user's row is locked first, as a deletion does. The
 * lock is not shared, because two that share a row and then write to it would wait for each other.
 */
export function lockSession(
  tx: SiteTx,
  userPoolId: string,
  token: { readonly hash: Buffer; readonly now: Date; readonly usedAfter: Date },
): Promise<(Session & { readonly lastSeenAt: Date }) | undefined> {
  return tx.db
    .selectFrom('sign_in_session as session')
    .innerJoin('pool_user as user', (join) =>
      join
        .onRef('user.site_id', '=', 'session.site_id')
        .onRef('user.user_pool_id', '=', 'session.user_pool_id')
        .onRef('user.sub', '=', 'session.sub'),
    )
    .select([
      'session.session_id as sessionId',
      'session.sub',
      'session.auth_time as authTime',
      'session.method',
      'session.last_seen_at as lastSeenAt',
      'session.expires_at as expiresAt',
    ])
    .where('session.site_id', '=', tx.siteId)
    .where('session.user_pool_id', '=', userPoolId)
    .where('session.token_hash', '=', token.hash)
    .where('session.expires_at', '>', token.now)
    .where('session.last_seen_at', '>', token.usedAfter)
    .where('user.status', '=', 'ACTIVE')
    .whereRef('session.auth_time', '>=', 'user.tokens_valid_after')
    .forKeyShare(['user'])
    .forNoKeyUpdate(['session'])
    .executeTakeFirst()
}

/** For one that was seen last before `seenBefore`. */
export async function updateLastSeen(
  tx: SiteTx,
  sessionId: string,
  { now, seenBefore }: { readonly now: Date; readonly seenBefore: Date },
): Promise<void> {
  await tx.db
    .updateTable('sign_in_session')
    .set({ last_seen_at: now })
    .where('site_id', '=', tx.siteId)
    .where('session_id', '=', sessionId)
    .where('last_seen_at', '<', seenBefore)
    .execute()
}

export function selectSessions(
  tx: SiteTx,
  user: UserKey,
  { now, usedAfter, limit }: ListedSince,
): Promise<SessionView[]> {
  return tx.db
    .selectFrom('sign_in_session')
    .select([
      'session_id as sessionId',
      'method',
      'user_agent as userAgent',
      'address',
      'created_at as createdAt',
      'last_seen_at as lastSeenAt',
      'expires_at as expiresAt',
    ])
    .where(ofUser(tx, user))
    .where('expires_at', '>', now)
    .where('last_seen_at', '>', usedAfter)
    .orderBy('created_at', 'desc')
    .limit(limit)
    .execute()
}

/** Those of a user beyond the ones that were used last. */
export async function selectSurplusSessions(
  tx: SiteTx,
  user: UserKey,
  kept: number,
): Promise<readonly string[]> {
  const rows = await tx.db
    .selectFrom('sign_in_session')
    .select('session_id as sessionId')
    .where(ofUser(tx, user))
    .orderBy('last_seen_at', 'desc')
    .orderBy('session_id')
    .offset(kept)
    .execute()
  return rows.map(({ sessionId }) => sessionId)
}

export async function deleteSession(tx: SiteTx, session: SessionKey): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('sign_in_session')
    .where(ofUser(tx, session))
    .where('session_id', '=', session.sessionId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

export function deleteSessionByToken(
  tx: SiteTx,
  userPoolId: string,
  tokenHash: Buffer,
): Promise<{ readonly sub: string; readonly sessionId: string } | undefined> {
  return tx.db
    .deleteFrom('sign_in_session')
    .where(inPool(tx, userPoolId))
    .where('token_hash', '=', tokenHash)
    .returning(['sub', 'session_id as sessionId'])
    .executeTakeFirst()
}

export async function deleteSessionsOfUser(
  tx: SiteTx,
  user: UserKey,
  keptSessionId: string | null,
): Promise<void> {
  await tx.db
    .deleteFrom('sign_in_session')
    .where(ofUser(tx, user))
    .where('session_id', 'is distinct from', keptSessionId)
    .execute()
}

/** What a sign-out ends: all tokens that exist, or only sign-ins that are in progress. */
export type EndedBySignOut = 'all-tokens' | 'sign-ins'

export async function updateValidAfter(
  tx: SiteTx,
  user: UserKey,
  moved: EndedBySignOut,
  now: Date,
): Promise<void> {
  await tx.db
    .updateTable('pool_user')
    .set({
      sign_ins_valid_after: now,
      ...(moved === 'all-tokens' && { tokens_valid_after: now }),
    })
    .where(ofUser(tx, user))
    .execute()
}
