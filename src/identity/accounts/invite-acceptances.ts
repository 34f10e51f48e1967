import type { RequestOrigin } from '#base/request-origin.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import type { PreparedPassword } from '#identity/passwords/passwords.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { User } from '#identity/users/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import type { AccountServiceDeps } from './account-deps.ts'
import { linkExpired } from './errors.ts'
import type { InviteAcceptance, InviteEnd, OpenInvite } from './model.ts'
import { activateInvited, lockUser, selectInvite, selectOpenInvite } from './queries.ts'

interface PreparedAcceptance {
  readonly pool: Pool
  readonly sub: string
  readonly token: string
  readonly prepared: PreparedPassword
  readonly origin: RequestOrigin
}

/** Invited people, who take their accounts by choosing a password. */
export class InviteAcceptances {
  readonly #deps: AccountServiceDeps

  constructor(deps: AccountServiceDeps) {
    this.#deps = deps
  }

  /** Looks at an invite without using it up; undefined when it is unknown, used or expired. */
  async find(site: Site, token: string): Promise<OpenInvite | undefined> {
    const invite = await this.#open(site, token)
    return invite && { email: invite.email, role: invite.role }
  }

  /** Of an invite that `find` does not find. */
  async endOf(site: Site, token: string): Promise<InviteEnd> {
    const { database, clock } = this.#deps
    const invite = await database.withSite(site.siteId, (tx) => selectInvite(tx, hashSecret(token)))
    return endOf(invite, clock.now())
  }

  /**
   * Mails the invited person another link in place of an expired one, if the invite is still valid. The request must have the old
   * link. 429.
   */
  async renew(site: Site, token: string, origin: RequestOrigin): Promise<void> {
    const { database, clock, directory, rateLimiter, users, invites } = this.#deps
    const invite = await database.withSite(site.siteId, (tx) => selectInvite(tx, hashSecret(token)))
    if (!invite || endOf(invite, clock.now()) !== 'expired') return
    const { userPoolId, sub, email } = invite
    const pool = await directory.pool(site, userPoolId)
    await rateLimiter.beginMail({ site, pool, origin, email })
    await database.withSite(site.siteId, async (tx) => {
      await lockUser(tx, { userPoolId, sub })
      const user = await users.find(tx, userPoolId, sub)
      if (user?.status === 'INVITED') await invites.send(tx, site, user, { userId: sub, origin })
    })
  }

  /** 410 `LinkExpired` when it is unknown, used or expired; 400 `InvalidPassword`. */
  async accept(
    site: Site,
    { token, password }: InviteAcceptance,
    origin: RequestOrigin,
  ): Promise<User> {
    const { database, directory, passwords } = this.#deps
    const invite = await this.#open(site, token)
    if (!invite) throw linkExpired()
    const { userPoolId, sub, email } = invite
    const pool = await directory.pool(site, userPoolId)
    const { address } = origin
    const prepared = await passwords.prepare(pool, { sub, email, password, address })
    return database.withSite(site.siteId, (tx) =>
      this.#take(tx, { pool, sub, token, prepared, origin }),
    )
  }

  #open(site: Site, token: string): Promise<(UserKey & OpenInvite) | undefined> {
    return this.#deps.database.withSite(site.siteId, (tx) =>
      selectOpenInvite(tx, hashSecret(token), this.#deps.clock.now()),
    )
  }

  async #take(
    tx: SiteTx,
    { pool, sub, token, prepared, origin }: PreparedAcceptance,
  ): Promise<User> {
    const { clock, users, invites, passwords, events } = this.#deps
    const key = { userPoolId: pool.userPoolId, sub }
    // The account before its invites, in the order of other writers.
    await lockUser(tx, key)
    const invitee = await invites.redeem(tx, token)
    const mine = invitee?.sub === sub && (await activateInvited(tx, key, clock.now()))
    const user = mine ? await users.find(tx, pool.userPoolId, sub) : undefined
    if (!user) throw linkExpired()
    await passwords.store(tx, pool, sub, prepared)
    const { email } = user
    await events.record(tx, { event: 'invite.redeemed', pool: pool.kind, sub, email, origin })
    return user
  }
}

function endOf(
  invite:
    | { readonly status: string; readonly usedAt: Date | null; readonly expiresAt: Date }
    | undefined,
  now: Date,
): InviteEnd {
  if (!invite) return 'unknown'
  if (invite.usedAt !== null || invite.status !== 'INVITED') return 'used'
  return invite.expiresAt <= now ? 'expired' : 'unknown'
}
