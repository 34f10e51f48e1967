import {
  type UserActor,
  type Actor,
  type Role,
  type StepUpActor,
  requireAuthorityOver,
  actorId,
} from '#base/actor.ts'
import { AppError, notFound } from '#base/app-error.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import { canonicalEmail } from '#identity/email.ts'
import type { Invites } from '#identity/invites/invites.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { AddressChanges } from '#identity/profiles/address-changes.ts'
import type { AuthRateLimiter } from '#identity/rate-limits/auth-rate-limiter.ts'
import type { AccountChanges } from '#identity/revocation/account-changes.ts'
import type { SecurityEventName } from '#identity/security-events/model.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { User } from '#identity/users/model.ts'
import type { Users } from '#identity/users/users.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { IdempotentAnswers, RepeatableRequest } from '#sites/idempotency/idempotent-answers.ts'
import type { Site } from '#sites/site.ts'

import type { MailboxOwnership } from './mailbox-ownership.ts'
import type { AdminUser, AdminUserSearch, CreatedAdminUser, NewAdminUser } from './model.ts'
import {
  deleteUser,
  lockPool,
  selectAdminUsers,
  shareLockAdminUsers,
  selectOtherSuperAdmins,
  updateRole,
} from './queries.ts'

/** The members of a site's admin pool, as its admins manage them. */
export class AdminUsers {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly directory: PoolDirectory
      readonly changes: AccountChanges
      readonly users: Users
      readonly invites: Invites
      readonly rateLimiter: Pick<AuthRateLimiter, 'beginMail'>
      readonly events: SecurityEvents
      readonly idempotentAnswers: IdempotentAnswers
      readonly mailboxOwnership: MailboxOwnership
      readonly addressChanges: Pick<AddressChanges, 'requireFree'>
    },
  ) {
    this.#deps = deps
  }

  /** Invites a user; 409 `UserAlreadyExists` for an address that has an account. */
  async create(
    site: Site,
    by: StepUpActor,
    input: NewAdminUser,
    repeatable?: RepeatableRequest,
  ): Promise<CreatedAdminUser> {
    const { database, idempotentAnswers, directory } = this.#deps
    const { role = 'user' } = input
    requireAuthorityOver(by, role)
    // An admin that another admin adds outlives the token with which it was done.
    if (role !== 'user') by.stepUp('movesAccount')
    const { admin } = await directory.get(site)
    return database.withSite(site.siteId, (tx) => {
      const create = () => this.#create(tx, site, by, { ...input, userPoolId: admin.userPoolId })
      return repeatable ? idempotentAnswers.once(tx, repeatable, create) : create()
    })
  }

  /** Those that match all of the filter, by address. */
  async list(site: Site, page: PageRequest & AdminUserSearch): Promise<PageRows<AdminUser>> {
    const { admin } = await this.#deps.directory.get(site)
    const { email, q } = page
    const filter = {
      email: email === undefined ? undefined : canonicalEmail(email),
      prefix: q === undefined ? undefined : canonicalEmail(q),
    }
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const rows = await selectAdminUsers(tx, admin.userPoolId, { ...page, ...filter })
      return pageRows(rows, page.limit, ({ email }) => email)
    })
  }

  /** 404 for a user outside the site's admin pool. */
  async get(site: Site, userId: string): Promise<AdminUser> {
    const { admin } = await this.#deps.directory.get(site)
    return this.#deps.database.withSite(site.siteId, async (tx) =>
      adminUserOf(await this.#find(tx, admin.userPoolId, userId)),
    )
  }

  /** A new link for one who has not come yet; the ones before end. 409 `UserAlreadyActive` for a user who has come. */
  async resendInvite(site: Site, by: UserActor, userId: string): Promise<CreatedAdminUser> {
    const { database, directory, users, rateLimiter, invites } = this.#deps
    const { admin: pool } = await directory.get(site)
    const { userPoolId } = pool
    const { email, externalEmail } = await database.withSite(site.siteId, async (tx) => {
      const user = await this.#find(tx, userPoolId, userId)
      requireAuthorityOver(by, user.role)
      if (user.status !== 'INVITED') throw alreadyActive(user)
      return user
    })
    await rateLimiter.beginMail({ site, pool, email: externalEmail ?? email, origin: by.origin })
    return database.withSite(site.siteId, async (tx) => {
      const user = await users.lockInvited(tx, userPoolId, userId)
      if (!user) throw alreadyActive(await this.#find(tx, userPoolId, userId))
      // Their role may have changed since.
      requireAuthorityOver(by, user.role)
      const { recipient, delivers } = await invites.send(tx, site, user, by)
      return { ...adminUserOf(user), inviteSent: delivers, inviteRecipient: recipient }
    })
  }

  /** The members with these ids or addresses, in their order; undefined for an unknown one. They stay until the transaction ends. */
  async holdUsers(tx: SiteTx, names: readonly string[]): Promise<readonly (UserKey | undefined)[]> {
    const emails = names.map(canonicalEmail)
    const found = await shareLockAdminUsers(tx, { subs: names, emails })
    return names.map((name, at) =>
      found.find(({ sub, email }) => sub === name || email === emails[at]),
    )
  }

  /** What the old role let the user do ends at once: their tokens do, and a client fetches new ones with the new role. */
  async changeRole(site: Site, by: UserActor, userId: string, role: Role): Promise<AdminUser> {
    requireAuthorityOver(by, role)
    return this.#changing(site, by, userId, async (tx, user) => {
      if (user.role === role) return adminUserOf(user)
      if (user.role === 'super-admin') await requireAnother(tx, user)
      await updateRole(tx, { ...user, role }, this.#deps.clock.now())
      await this.#record(tx, by, 'role.changed', {
        user,
        detail: { from: user.role ?? '', to: role },
      })
      const changed = { ...user, role }
      // A link leads to the page of the role that it was made for.
      if (user.status === 'INVITED') await this.#deps.invites.send(tx, site, changed, by)
      return adminUserOf(changed)
    })
  }

  async delete(site: Site, by: Actor, userId: string): Promise<void> {
    if (userId === actorId(by)) {
      throw new AppError('CannotDeleteSelf', 'You cannot delete yourself: ask another admin')
    }
    await this.#changing(site, by, userId, async (tx, user) => {
      if (user.role === 'super-admin') await requireAnother(tx, user)
      await this.#deps.mailboxOwnership.userDeleted(tx, site, user.sub)
      await deleteUser(tx, user.userPoolId, user.sub)
      await this.#record(tx, by, 'user.deleted', { user, detail: { role: user.role ?? '' } })
    })
  }

  async #create(
    tx: SiteTx,
    site: Site,
    by: UserActor,
    input: NewAdminUser & { readonly userPoolId: string },
  ): Promise<CreatedAdminUser> {
    const { users, invites } = this.#deps
    const { userPoolId, role = 'user' } = input
    const email = canonicalEmail(input.email)
    const externalEmail = canonicalOrNone(input.externalEmail)
    await this.#deps.addressChanges.requireFree(tx, { userPoolId }, email)
    const user = await users.addInvited(tx, { userPoolId, email, externalEmail, role })
    if (!user) {
      throw new AppError('UserAlreadyExists', `There is a user with the address "${email}" already`)
    }
    await this.#record(tx, by, 'user.created', { user, detail: { role } })
    const { recipient, delivers } = await invites.send(tx, site, user, by)
    return { ...adminUserOf(user), inviteSent: delivers, inviteRecipient: recipient }
  }

  /** Locks the pool for a change of a user that the actor has authority over; looks the actor's role up again afterwards. */
  async #changing<Result>(
    site: Site,
    by: Actor,
    userId: string,
    change: (tx: SiteTx, user: User) => Promise<Result>,
  ): Promise<Result> {
    const { database, directory, changes } = this.#deps
    const { admin } = await directory.get(site)
    return database.withSite(site.siteId, async (tx) => {
      await lockPool(tx, admin.userPoolId)
      const user = await this.#find(tx, admin.userPoolId, userId)
      requireAuthorityOver(by, user.role)
      const result = await change(tx, user)
      await changes.userChanged(tx, userId)
      return result
    })
  }

  async #find(tx: SiteTx, userPoolId: string, userId: string): Promise<User> {
    const user = await this.#deps.users.find(tx, userPoolId, userId)
    if (!user) throw notFound('User', userId)
    return user
  }

  #record(
    tx: SiteTx,
    by: Actor,
    event: SecurityEventName,
    about: { readonly user: User; readonly detail: Readonly<Record<string, string>> },
  ): Promise<void> {
    const { user, detail } = about
    const { sub, email } = user
    return this.#deps.events.record(tx, { event, pool: 'admin', sub, email, by, detail })
  }
}

const canonicalOrNone = (email: string | null | undefined): string | null =>
  email === null || email === undefined ? null : canonicalEmail(email)

function adminUserOf({ sub, email, role, externalEmail, status }: User): AdminUser {
  // A member of the admin pool is never disabled.
  const state = status === 'INVITED' ? 'INVITED' : 'ACTIVE'
  return { userId: sub, email, role: role ?? 'user', externalEmail, status: state }
}

const alreadyActive = ({ email }: User): AppError =>
  new AppError('UserAlreadyActive', `"${email}" has taken up the invite and needs no other one`)

/** A member who can sign in must be left; only an invitation may be withdrawn when no other member has come yet. */
async function requireAnother(tx: SiteTx, { userPoolId, sub, status }: User): Promise<void> {
  const others = await selectOtherSuperAdmins(tx, userPoolId, sub)
  if (status === 'INVITED' ? others.length > 0 : others.includes('ACTIVE')) return
  throw new AppError(
    'LastSuperAdmin',
    'A site keeps at least one super-admin who can sign in: make another one first',
  )
}
