import { type UserActor, type StepUpActor, requireAuthorityOver } from '#base/actor.ts'
import { AppError, notFound } from '#base/app-error.ts'
import type { AuthEmails } from '#identity/auth-emails/auth-emails.ts'
import type { Invites } from '#identity/invites/invites.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { FailureCounter } from '#identity/rate-limits/failure-counter.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { Users } from '#identity/users/users.ts'
import { t } from '#languages/message.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import { deletePendingChanges, selectPendingEmail } from './address-change-queries.ts'
import type { AddressChanges } from './address-changes.ts'
import {
  type OwnProfileChange,
  type UserProfile,
  type StoredProfile,
  changedProfileFields,
  changedProfile,
  pendingEmailOf,
  recipientOf,
  replacedAddresses,
  withUnchosenExternal,
  withoutPrimary,
} from './model.ts'
import { deleteCodes, selectProfile, selectProfileForUpdate, updateProfile } from './queries.ts'

/** With the primary address that waits to be proven. */
export interface ShownProfile extends StoredProfile {
  readonly pending: string | undefined
}

/** Addresses and settings of the members of a site's admin pool. */
export class Profiles {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly directory: PoolDirectory
      readonly users: Users
      readonly invites: Invites
      readonly authEmails: AuthEmails
      readonly events: SecurityEvents
      readonly attempts: FailureCounter
      readonly addressChanges: AddressChanges
    },
  ) {
    this.#deps = deps
  }

  async get(site: Site, userId: string): Promise<ShownProfile> {
    const owner = await this.#owner(site, userId)
    return this.#deps.database.withSite(site.siteId, async (tx) => ({
      ...required(await selectProfile(tx, owner), userId),
      pending: await this.#pendingEmail(tx, owner),
    }))
  }

  /**
   * Notifies addresses that are replaced. Changing them takes a step-up, and a new primary address of an active account waits
   * until it is proven. 409 `UserAlreadyExists` for that of another account.
   */
  async change(
    site: Site,
    by: StepUpActor,
    userId: string,
    change: OwnProfileChange,
  ): Promise<ShownProfile> {
    const owner = await this.#owner(site, userId)
    await this.#boundMail(site, by.userId, userId, change)
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const before = required(await selectProfileForUpdate(tx, owner), userId)
      const isOwn = userId === by.userId
      if (!isOwn) requireAuthorityOver(by, before.role)
      const after = immediateChange(before, change, isOwn)
      const fields = changedProfileFields(before, after)
      // Where mail goes is half of what it takes to sign in.
      if (fields.some((field) => field !== 'settings')) by.stepUp('movesAccount')
      await this.#requestPrimary(tx, site, by, { before, change })
      if (fields.includes('primaryEmail')) {
        await this.#deps.addressChanges.requireFree(tx, owner, after.primaryEmail)
      }
      const pending = await this.#pendingEmail(tx, owner)
      if (fields.length === 0) return { ...before, pending }
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
        by,
        detail: { fields: fields.join(' '), ...previousEmail(before, after) },
      })
      await this.#addressesChanged(tx, site, by, { before, after: updated })
      return { ...updated, pending }
    })
  }

  /** A new primary address waits for its proof; the one that there is ends what waits. */
  async #requestPrimary(
    tx: SiteTx,
    site: Site,
    by: StepUpActor,
    { before, change }: { readonly before: StoredProfile; readonly change: OwnProfileChange },
  ): Promise<void> {
    const wanted = pendingEmailOf(before, change)
    if (wanted === undefined) {
      if (change.primaryEmail !== undefined) await deletePendingChanges(tx, before)
      return
    }
    by.stepUp('movesAccount')
    const { origin, userId } = by
    const requestedBy = before.sub === userId ? null : userId
    await this.#deps.addressChanges.request(tx, { site, origin, requestedBy }, before, wanted)
    if (requestedBy === null) return
    await this.#deps.events.record(tx, {
      event: 'user.changed',
      pool: 'admin',
      sub: before.sub,
      email: before.primaryEmail,
      actor: requestedBy,
      origin,
      detail: { fields: 'pendingEmail', pendingEmail: wanted },
    })
  }

  #pendingEmail(tx: SiteTx, owner: UserKey): Promise<string | undefined> {
    return selectPendingEmail(tx, owner, this.#deps.clock.now())
  }

  async #addressesChanged(
    tx: SiteTx,
    site: Site,
    by: UserActor,
    { before, after }: { readonly before: StoredProfile; readonly after: StoredProfile },
  ): Promise<void> {
    const replaced = replacedAddresses(before, after)
    if (replaced.length > 0) await deleteCodes(tx, after)
    if (before.status === 'INVITED') {
      if (recipientOf(before) !== recipientOf(after)) await this.#invite(tx, site, by, after)
      return
    }
    for (const to of replaced) {
      const email = { kind: 'address-changed', pool: 'admin', to } as const
      await this.#deps.authEmails.send(tx, site, email, by.origin)
    }
  }

  /** The link that went to the old address ends. */
  async #invite(tx: SiteTx, site: Site, by: UserActor, owner: UserKey): Promise<void> {
    const user = required(await this.#deps.users.find(tx, owner.userPoolId, owner.sub), owner.sub)
    await this.#deps.invites.send(tx, site, user, by)
  }

  /** Limits how many strangers one account can cause to be mailed by naming their addresses. */
  async #boundMail(
    site: Site,
    actorId: string,
    userId: string,
    change: OwnProfileChange,
  ): Promise<void> {
    const before = await this.get(site, userId)
    const mailsNobody =
      pendingEmailOf(before, change) === undefined &&
      replacedAddresses(before, changedProfile(before, change)).length === 0
    if (mailsNobody) return
    const { siteId } = site
    const key = {
      siteId,
      kind: 'mail',
      subject: `profile ${[...new Set([userId, actorId])].join(' ')}`,
    } as const
    const { waitSeconds } = await this.#deps.attempts.begin(key)
    if (waitSeconds === 0) return
    throw new AppError('TooManyRequests', t('error.address-changes'), {
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

/** The primary address of an active account changes once it is proven. */
function immediateChange(
  before: StoredProfile,
  change: OwnProfileChange,
  isOwn: boolean,
): UserProfile {
  if (isOwn) return changedProfile(before, withoutPrimary(before, change))
  const isInvited = before.status === 'INVITED'
  const after = changedProfile(before, isInvited ? change : withoutPrimary(before, change))
  return withUnchosenExternal(before, after)
}

const previousEmail = (before: UserProfile, after: UserProfile): { previousEmail?: string } =>
  before.primaryEmail === after.primaryEmail ? {} : { previousEmail: before.primaryEmail }
