import { AppError, notFound } from '#base/app-error.ts'
import { type ActorContext, requireAuthorityOver } from '#identity/actor.ts'
import type { AuthEmails } from '#identity/auth-emails/service.ts'
import type { Invites } from '#identity/invites/service.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { FailureCounter } from '#identity/rate-limits/failure-counter.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
import type { SignOut } from '#identity/sessions/sign-out.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { Users } from '#identity/users/service.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import {
  type OwnProfileChange,
  type UserProfile,
  type StoredProfile,
  changedProfileFields,
  changedProfile,
  recipientOf,
  replacedAddresses,
} from './model.ts'
import { deleteCodes, selectProfile, selectProfileForUpdate, updateProfile } from './queries.ts'

export interface ProfilesDeps extends Pick<PlatformServices, 'database' | 'clock'> {
  readonly directory: PoolDirectory
  readonly users: Users
  readonly invites: Invites
  readonly authEmails: AuthEmails
  readonly events: SecurityEvents
  readonly signOut: SignOut
  readonly attempts: FailureCounter
}

/** Addresses and settings of the members of a site's admin pool. */
export class Profiles {
  readonly #deps: ProfilesDeps

  constructor(deps: ProfilesDeps) {
    this.#deps = deps
  }

  async get(site: Site, userId: string): Promise<StoredProfile> {
    const owner = await this.#owner(site, userId)
    return this.#deps.database.withSite(site.siteId, async (tx) =>
      required(await selectProfile(tx, owner), userId),
    )
  }

  /** Addresses that are replaced hear of it. 409 `UserAlreadyExists` for a primary address of another account. */
  async change(
    site: Site,
    by: ActorContext,
    userId: string,
    change: OwnProfileChange,
  ): Promise<StoredProfile> {
    const owner = await this.#owner(site, userId)
    if (userId === by.actor.userId) await this.#boundMail(site, userId, change)
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const before = required(await selectProfileForUpdate(tx, owner), userId)
      if (userId !== by.actor.userId) requireAuthorityOver(by.actor, before.role)
      const after = changedProfile(before, change)
      const fields = changedProfileFields(before, after)
      if (fields.length === 0) return before
      const updated = {
        ...before,
        ...after,
        emailVerified: before.emailVerified && !fields.includes('primaryEmail'),
        updatedAt: this.#deps.clock.now(),
      }
      await updateProfile(tx, owner, updated)
      await this.#deps.events.record(tx, {
        event: 'user.changed',
        pool: 'admin',
        sub: userId,
        email: after.primaryEmail,
        actor: by.actor.userId,
        origin: by.origin,
        detail: { fields: fields.join(' '), ...previousEmail(before, after) },
      })
      await this.#addressesChanged(tx, site, by, { before, after: updated })
      return updated
    })
  }

  async #addressesChanged(
    tx: SiteTx,
    site: Site,
    by: ActorContext,
    { before, after }: { readonly before: StoredProfile; readonly after: StoredProfile },
  ): Promise<void> {
    const replaced = replacedAddresses(before, after)
    if (replaced.length > 0) await deleteCodes(tx, after)
    if (before.status === 'INVITED') {
      if (recipientOf(before) !== recipientOf(after)) await this.#invite(tx, site, by, after)
      return
    }
    for (const to of replaced) {
      await this.#deps.authEmails.send(tx, site, { kind: 'address-changed', pool: 'admin', to })
    }
    // Whoever changes another's sign-in name may be giving the account to somebody else.
    if (after.primaryEmail !== before.primaryEmail && after.sub !== by.actor.userId) {
      const ending = { actor: by.actor.userId, origin: by.origin }
      const pool = { userPoolId: after.userPoolId, kind: 'admin' as const }
      await this.#deps.signOut.everywhere(tx, pool, after.sub, ending)
    }
  }

  /** The link that went to the old address ends. */
  async #invite(tx: SiteTx, site: Site, by: ActorContext, owner: UserKey): Promise<void> {
    const user = required(await this.#deps.users.find(tx, owner.userPoolId, owner.sub), owner.sub)
    await this.#deps.invites.send(tx, site, user, by)
  }

  /** Nobody may have strangers mailed by making their addresses his own, one after the other. */
  async #boundMail(site: Site, userId: string, change: OwnProfileChange): Promise<void> {
    const before = await this.get(site, userId)
    if (replacedAddresses(before, changedProfile(before, change)).length === 0) return
    const { siteId } = site
    const key = { siteId, kind: 'mail', subject: `profile ${userId}` } as const
    const { waitSeconds } = await this.#deps.attempts.begin(key)
    if (waitSeconds === 0) return
    throw new AppError('TooManyRequests', 'Your addresses changed too often: try again later', {
      retryAfterSeconds: waitSeconds,
    })
  }

  async #owner(site: Site, sub: string): Promise<UserKey> {
    const { admin } = await this.#deps.directory.get(site)
    return { userPoolId: admin.userPoolId, sub }
  }
}

function required<Found>(found: Found | undefined, userId: string): Found {
  if (found === undefined) throw notFound('User', userId)
  return found
}

const previousEmail = (before: UserProfile, after: UserProfile): { previousEmail?: string } =>
  before.primaryEmail === after.primaryEmail ? {} : { previousEmail: before.primaryEmail }
