import { type Actor, requireAuthorityOver, type UserActor } from '#base/actor.ts'
import { AppError, notFound } from '#base/app-error.ts'
import { hasCode } from '#base/error-code.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Users } from '#identity/users/users.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import { selectSessionOfFamily } from './family-queries.ts'
import type { ListedSession } from './model.ts'
import type { Sessions } from './sessions.ts'
import type { SignOut } from './sign-out.ts'

/** The account whose sign-ins are listed or ended. */
export interface SessionOwner {
  readonly pool: Pool
  readonly sub: string
  /** `origin_jti` of the caller's token, when it is their own account. */
  readonly familyId?: string | undefined
}

/** The sign-ins of an account: for its owner, for the admins above them, and for the operator. */
export class UserSessions {
  readonly #deps

  constructor(deps: {
    readonly database: Database
    readonly directory: PoolDirectory
    readonly users: Users
    readonly sessions: Sessions
    readonly signOut: SignOut
  }) {
    this.#deps = deps
  }

  async ownerOf(site: Site, { userId, familyId }: UserActor): Promise<SessionOwner> {
    const { admin } = await this.#deps.directory.get(site)
    return { pool: admin, sub: userId, familyId }
  }

  /** 404 for a user outside the admin pool, 403 for one above the actor. */
  async ownerById(site: Site, actor: Actor, userId: string): Promise<SessionOwner> {
    const { admin } = await this.#deps.directory.get(site)
    const user = await this.#deps.database.withSite(site.siteId, (tx) =>
      this.#deps.users.find(tx, admin.userPoolId, userId),
    )
    if (!user) throw notFound('User', userId)
    requireAuthorityOver(actor, user.role)
    return { pool: admin, sub: userId }
  }

  /** 404 for a user outside the pool of visitors. */
  async visitorById(site: Site, sub: string): Promise<SessionOwner> {
    const { data } = await this.#deps.directory.get(site)
    const user = await this.#deps.database.withSite(site.siteId, (tx) =>
      this.#deps.users.find(tx, data.userPoolId, sub),
    )
    if (!user) throw notFound('User', sub)
    return { pool: data, sub }
  }

  /** 404 `UserNotFound`, which names the other pool, when this one has no account with that address. */
  async ownerByEmail(site: Site, kind: PoolKind, email: string): Promise<SessionOwner> {
    const pool = (await this.#deps.directory.get(site))[kind]
    try {
      const { sub } = await this.#deps.users.byEmail(site, pool, email)
      return { pool, sub }
    } catch (error) {
      throw hasCode(error, 'UserNotFound') ? notInPool(kind, email) : error
    }
  }

  /** Newest first; at most 100. */
  async list(site: Site, user: SessionOwner): Promise<readonly ListedSession[]> {
    const sessions = await this.#deps.sessions.list(site, user.pool, user.sub)
    const own = await this.#current(site, user)
    return sessions.map((session) => ({ ...session, current: own.includes(session.sessionId) }))
  }

  /** Ends one of them with all its tokens; 404 `SessionNotFound`. */
  end(site: Site, { pool, sub }: SessionOwner, sessionId: string, by: Actor): Promise<void> {
    return this.#deps.sessions.revoke(site, pool, { sub, sessionId }, by)
  }

  /** Ends all of them but the caller's. */
  endAll(site: Site, { pool, sub, familyId }: SessionOwner, by: Actor): Promise<void> {
    return this.#deps.database.withSite(site.siteId, (tx) =>
      this.#deps.signOut.everywhere(tx, pool, sub, { by, sessionId: familyId }),
    )
  }

  /** The ids under which the caller's sign-in may be listed. */
  async #current(site: Site, { pool, sub, familyId }: SessionOwner): Promise<readonly string[]> {
    if (familyId === undefined) return []
    const key = { userPoolId: pool.userPoolId, sub }
    const family = await this.#deps.database.withSite(site.siteId, (tx) =>
      selectSessionOfFamily(tx, key, familyId),
    )
    const sessionId = family?.sessionId ?? null
    return sessionId === null ? [familyId] : [familyId, sessionId]
  }
}

const notInPool = (kind: PoolKind, email: string): AppError => {
  const [here, there] =
    kind === 'data' ? ['visitors', 'admin for an admin'] : ['admins', 'data for a visitor']
  return new AppError(
    'UserNotFound',
    `User "${email}" is not among the ${here} of the site: set "pool" (--pool) to ${there}`,
  )
}
