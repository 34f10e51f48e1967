import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { User } from '#identity/users/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { siteBaseUrl } from '#sites/base-url.ts'
import type { Onboarding } from '#sites/site-parts.ts'
import type { Site } from '#sites/site.ts'

import { INVITE_LIFETIME_MS, hashInvite, onboardingUrl } from './model.ts'
import {
  type Invitee,
  deleteUnusedInvites,
  insertInvite,
  markInviteUsed,
  selectInvitee,
} from './queries.ts'

/** Links with which invited people take their accounts: good for seven days, once, known to us only as hashes. */
export class Invites {
  readonly #ids: Ids
  readonly #clock: Clock
  readonly #baseUrl: string

  constructor(deps: { ids: Ids; clock: Clock; baseUrl: string }) {
    this.#ids = deps.ids
    this.#clock = deps.clock
    this.#baseUrl = deps.baseUrl
  }

  /** A new link; it ends the ones that the user has not used. */
  async issue(tx: SiteTx, site: Site, user: User): Promise<Onboarding> {
    const token = this.#ids.secret()
    const createdAt = this.#clock.now()
    await deleteUnusedInvites(tx, user)
    await insertInvite(tx, {
      tokenHash: hashInvite(token),
      userPoolId: user.userPoolId,
      sub: user.sub,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + INVITE_LIFETIME_MS),
    })
    const base = siteBaseUrl(this.#baseUrl, site.domain)
    return { email: user.email, url: onboardingUrl(base, user.role, token) }
  }

  /** Who holds a link that is still good, without using it up. */
  find(tx: SiteTx, token: string): Promise<Invitee | undefined> {
    return selectInvitee(tx, hashInvite(token), this.#clock.now())
  }

  /** Who was invited; undefined when the token is unknown, used or too old. Using it up is part of the caller's transaction. */
  redeem(tx: SiteTx, token: string): Promise<Invitee | undefined> {
    return markInviteUsed(tx, hashInvite(token), this.#clock.now())
  }
}
