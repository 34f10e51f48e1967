import type { Role } from '#base/actor.ts'
import { notFound } from '#base/app-error.ts'
import { canonicalEmail } from '#identity/email.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { AccountChanges } from '#identity/revocation/account-changes.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import type { AccountStatus, User } from './model.ts'
import {
  type NewUser,
  insertUser,
  selectInvitedForUpdate,
  selectInvitedSuperAdminsForUpdate,
  selectAccountStatus,
  selectSuperAdminEmails,
  selectUser,
  selectUserByEmail,
  updateTokensValidAfter,
} from './queries.ts'

/** The accounts of a site's pools. */
export class Users {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'ids' | 'clock'> & {
      readonly directory: PoolDirectory
      readonly changes: AccountChanges
    },
  ) {
    this.#deps = deps
  }

  /** One invited account per address, in the transaction that creates the site. */
  async inviteSuperAdmins(
    tx: SiteTx,
    userPoolId: string,
    emails: readonly string[],
  ): Promise<readonly User[]> {
    const users: User[] = []
    for (const email of new Set(emails.map(canonicalEmail))) {
      users.push(await this.#insert(tx, invited(userPoolId, email, 'super-admin')))
    }
    return users
  }

  /** The visitor with that address, made by the operator when there is none yet: verified, and marked as such. */
  ensureVisitor(site: Site, pool: Pool, email: string): Promise<User> {
    const account: Account = {
      userPoolId: pool.userPoolId,
      email: canonicalEmail(email),
      emailVerified: true,
      role: null,
      status: 'ACTIVE',
      origin: 'operator',
    }
    return this.#deps.database.withSite(site.siteId, (tx) => this.#ensure(tx, account))
  }

  /** 404 when the pool has no such account. */
  byEmail(site: Site, pool: Pool, email: string): Promise<User> {
    return this.#deps.database.withSite(site.siteId, (tx) =>
      userByEmail(tx, pool.userPoolId, canonicalEmail(email)),
    )
  }

  /** Undefined when the pool has no such account, or not any more. */
  find(tx: SiteTx, userPoolId: string, sub: string): Promise<User | undefined> {
    return selectUser(tx, userPoolId, sub)
  }

  /** 404 for a user who cannot sign in, or does not exist any more. */
  async active(tx: SiteTx, userPoolId: string, sub: string): Promise<User> {
    const user = await selectUser(tx, userPoolId, sub)
    if (user?.status !== 'ACTIVE') throw notFound('User', sub)
    return user
  }

  /** Undefined when the pool has no account with that address, in its canonical spelling. */
  findByEmail(tx: SiteTx, userPoolId: string, email: string): Promise<User | undefined> {
    return selectUserByEmail(tx, userPoolId, email)
  }

  /** A visitor with an address that a provider has verified. Undefined when the pool has an account with it. */
  addVisitor(tx: SiteTx, userPoolId: string, email: string): Promise<User | undefined> {
    return this.#addVerified(tx, {
      userPoolId,
      sub: this.#deps.ids.uuid(),
      email,
      origin: 'provider',
    })
  }

  /** A visitor who has proven the address with a code. Undefined when the pool has an account with it. */
  addSignedUp(
    tx: SiteTx,
    account: Pick<NewUser, 'userPoolId' | 'sub' | 'email' | 'name'>,
  ): Promise<User | undefined> {
    return this.#addVerified(tx, { ...account, origin: 'sign-up' })
  }

  /** The addresses of a site's super-admins, oldest first; at most 100. */
  superAdmins(siteId: string): Promise<readonly string[]> {
    return this.#deps.database.withSite(siteId, (tx) => selectSuperAdminEmails(tx, 100))
  }

  /** Locks those who have not come yet, of the addresses that are named, or all. */
  lockInvitedSuperAdmins(
    tx: SiteTx,
    userPoolId: string,
    filter: { readonly emails: readonly string[]; readonly limit: number },
  ): Promise<readonly User[]> {
    return selectInvitedSuperAdminsForUpdate(tx, userPoolId, filter)
  }

  /** Undefined unless the user is still to come; locks the user. */
  lockInvited(tx: SiteTx, userPoolId: string, sub: string): Promise<User | undefined> {
    return selectInvitedForUpdate(tx, userPoolId, sub)
  }

  /** Undefined when the account is gone. */
  accountStatus(
    site: Site,
    userPoolId: string,
    {
      sub,
      origin_jti: familyId,
    }: { readonly sub: string; readonly origin_jti?: string | undefined },
  ): Promise<AccountStatus | undefined> {
    return selectAccountStatus(this.#deps.database, site.siteId, { userPoolId, sub, familyId })
  }

  /** Ends every token that the user has, on every replica. */
  revokeTokens(site: Site, userPoolId: string, sub: string): Promise<void> {
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const found = await updateTokensValidAfter(tx, userPoolId, sub, this.#deps.clock.now())
      if (!found) throw notFound('User', sub)
      await this.#deps.changes.userChanged(tx, sub)
    })
  }

  /** An account that is to be taken with an invite. Undefined when the pool has an account with that address. */
  async addInvited(
    tx: SiteTx,
    account: Pick<NewUser, 'userPoolId' | 'email' | 'externalEmail' | 'role'>,
  ): Promise<User | undefined> {
    const { userPoolId, email, role } = account
    const sub = this.#deps.ids.uuid()
    await insertUser(
      tx,
      { ...invited(userPoolId, email, role), ...account, sub },
      this.#deps.clock.now(),
    )
    return selectUser(tx, userPoolId, sub)
  }

  async #addVerified(
    tx: SiteTx,
    account: Pick<NewUser, 'userPoolId' | 'sub' | 'email' | 'name' | 'origin'>,
  ): Promise<User | undefined> {
    const { userPoolId, sub } = account
    const visitor = { ...account, emailVerified: true, role: null, status: 'ACTIVE' } as const
    await insertUser(tx, visitor, this.#deps.clock.now())
    return selectUser(tx, userPoolId, sub)
  }

  async #ensure(tx: SiteTx, account: Account): Promise<User> {
    const existing = await selectUserByEmail(tx, account.userPoolId, account.email)
    return existing ?? this.#insert(tx, account)
  }

  async #insert(tx: SiteTx, account: Account): Promise<User> {
    await insertUser(tx, { ...account, sub: this.#deps.ids.uuid() }, this.#deps.clock.now())
    return userByEmail(tx, account.userPoolId, account.email)
  }
}

type Account = Omit<NewUser, 'sub'>

const invited = (userPoolId: string, email: string, role: Role | null): Account => ({
  userPoolId,
  email,
  emailVerified: false,
  role,
  status: 'INVITED',
  origin: 'invite',
})

async function userByEmail(tx: SiteTx, userPoolId: string, email: string): Promise<User> {
  const user = await selectUserByEmail(tx, userPoolId, email)
  if (!user) throw notFound('User', email)
  return user
}
