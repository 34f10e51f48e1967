import type { Actor } from '#base/actor.ts'
import { notFound } from '#base/app-error.ts'
import type { RequestOrigin } from '#base/request-origin.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import type { TokenFamilies } from './families.ts'
import { selectFamiliesWithoutSession } from './family-queries.ts'
import {
  SIGN_IN_LIFETIME_MS,
  type Session,
  type SessionView,
  type SignInCodes,
  type SignInMethod,
  idleSince,
  lastSeenBefore,
} from './model.ts'
import {
  type NewSession,
  deleteSession,
  deleteSessionByToken,
  insertSession,
  lockSession,
  renewSession,
  selectSessions,
  selectSurplusSessions,
  updateLastSeen,
} from './queries.ts'

const MAX_LISTED = 100

export interface SessionStart {
  readonly sub: string
  readonly method: SignInMethod
  /** Taken before the proof was checked: a sign-out everywhere in between then counts. */
  readonly authTime: Date
  /** The browser's session until now, which the new one takes the place of. */
  readonly replaces?: string | undefined
}

export interface StartedSession {
  readonly sessionId: string
  /** For the browser's cookie; we keep its hash. */
  readonly token: string
  readonly expiresAt: Date
}

/** The sign-ins of a pool's users. */
export class Sessions {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock' | 'ids'> & {
      readonly families: TokenFamilies
      readonly codes: SignInCodes
      readonly events: SecurityEvents
    },
  ) {
    this.#deps = deps
  }

  /** The session of the cookie's token, unless it has ended. */
  async find(site: Site, pool: Pool, token: string | undefined): Promise<Session | undefined> {
    if (token === undefined) return undefined
    return this.#deps.database.withSite(site.siteId, (tx) => this.hold(tx, pool, token))
  }

  /** The same, locked: the session cannot be ended during the transaction. */
  async hold(tx: SiteTx, pool: Pool, token: string): Promise<Session | undefined> {
    const now = this.#deps.clock.now()
    const usedAfter = idleSince(pool, now)
    const session = await lockSession(tx, pool.userPoolId, {
      hash: hashSecret(token),
      now,
      usedAfter,
    })
    const seenBefore = lastSeenBefore(now)
    if (session && session.lastSeenAt < seenBefore) {
      await updateLastSeen(tx, session.sessionId, { now, seenBefore })
    }
    return session
  }

  /**
   * Issues a new token for the browser, so that a planted one is worthless. A browser in which the same user was signed
   * in keeps its session.
   */
  async start(
    tx: SiteTx,
    pool: Pool,
    start: SessionStart,
    origin: RequestOrigin,
  ): Promise<StartedSession> {
    const token = this.#deps.ids.secret()
    const now = this.#deps.clock.now()
    const previous = await this.#replaced(tx, pool, start)
    const session: NewSession = {
      sessionId: previous ?? this.#deps.ids.named('ses'),
      userPoolId: pool.userPoolId,
      sub: start.sub,
      tokenHash: hashSecret(token),
      method: start.method,
      authTime: start.authTime,
      userAgent: origin.userAgent,
      address: origin.address,
      createdAt: now,
      expiresAt: new Date(now.getTime() + SIGN_IN_LIFETIME_MS),
    }
    await deleteExpired(tx, 'sign_in_session', now)
    await (previous === undefined ? insertSession(tx, session) : renewSession(tx, session))
    await this.#endSurplus(tx, pool, session)
    return { sessionId: session.sessionId, token, expiresAt: session.expiresAt }
  }

  /** Newest first; at most 100. */
  async list(site: Site, pool: Pool, sub: string): Promise<readonly SessionView[]> {
    const user = { userPoolId: pool.userPoolId, sub }
    const now = this.#deps.clock.now()
    const page = { now, usedAfter: idleSince(pool, now), limit: MAX_LISTED }
    const views = await this.#deps.database.withSite(site.siteId, async (tx) => [
      ...(await selectSessions(tx, user, page)),
      ...(await selectFamiliesWithoutSession(tx, user, page)),
    ])
    return views
      .sort((one, other) => other.createdAt.getTime() - one.createdAt.getTime())
      .slice(0, MAX_LISTED)
  }

  /** Ends one of a user's sign-ins with all its tokens; 404 `SessionNotFound`. */
  async revoke(
    site: Site,
    pool: Pool,
    { sub, sessionId }: { readonly sub: string; readonly sessionId: string },
    by: Actor,
  ): Promise<void> {
    await this.#deps.database.withSite(site.siteId, async (tx) => {
      const deleted = await deleteSession(tx, { userPoolId: pool.userPoolId, sub, sessionId })
      const alive = await this.#endTokens(tx, pool, { sub, sessionId })
      if (!deleted && !alive) throw notFound('Session', sessionId)
      await this.#deps.events.record(tx, {
        event: 'session.revoked',
        pool: pool.kind,
        sub,
        by,
        detail: { sessionId },
      })
    })
  }

  /** Signs the browser out; nothing happens when it was not signed in. */
  async end({ site, pool, origin }: PoolRequest, token: string): Promise<void> {
    await this.#deps.database.withSite(site.siteId, async (tx) => {
      const ended = await deleteSessionByToken(tx, pool.userPoolId, hashSecret(token))
      if (!ended) return
      await this.#endTokens(tx, pool, ended)
      await this.#deps.events.record(tx, {
        event: 'sign-out',
        pool: pool.kind,
        sub: ended.sub,
        origin,
        detail: { sessionId: ended.sessionId },
      })
    })
  }

  /** Those that were used longest ago, beyond what the pool lets an account have. */
  async #endSurplus(tx: SiteTx, pool: Pool, { sub }: Pick<NewSession, 'sub'>): Promise<void> {
    const user = { userPoolId: pool.userPoolId, sub }
    const surplus = await selectSurplusSessions(tx, user, pool.settings.maxSessions)
    for (const sessionId of surplus) {
      if (!(await deleteSession(tx, { ...user, sessionId }))) continue
      await this.#endTokens(tx, pool, { sub, sessionId })
      const detail = { sessionId, reason: 'too many' }
      await this.#deps.events.record(tx, { event: 'session.revoked', pool: pool.kind, sub, detail })
    }
  }

  /** Codes are deleted first: that waits for exchanges in flight, whose families are then found and ended. */
  async #endTokens(
    tx: SiteTx,
    pool: Pool,
    { sub, sessionId }: { readonly sub: string; readonly sessionId: string },
  ): Promise<boolean> {
    const user = { userPoolId: pool.userPoolId, sub }
    await this.#deps.codes.endBySession(tx, user, sessionId)
    return this.#deps.families.endBySession(tx, user, sessionId)
  }

  /** Ends another user's session in the same browser, whose cookie is overwritten in any case. */
  async #replaced(tx: SiteTx, pool: Pool, start: SessionStart): Promise<string | undefined> {
    if (start.replaces === undefined) return undefined
    const previous = await this.hold(tx, pool, start.replaces)
    if (!previous || previous.sub === start.sub) return previous?.sessionId
    await deleteSession(tx, { userPoolId: pool.userPoolId, ...previous })
    return undefined
  }
}
