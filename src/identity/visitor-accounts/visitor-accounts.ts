import type { Actor } from '#base/actor.ts'
import { notFound } from '#base/app-error.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import { canonicalEmail } from '#identity/email.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { AccountChanges } from '#identity/revocation/account-changes.ts'
import type { SecurityEventName } from '#identity/security-events/model.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { SignOut } from '#identity/sessions/sign-out.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import type { VisitorAccount, VisitorAccountDetail, VisitorSearch } from './model.ts'
import {
  deleteDeletion,
  deleteVisitor,
  selectVisitor,
  selectVisitorForUpdate,
  selectVisitors,
  updateVisitorStatus,
} from './queries.ts'

/** The accounts of a site's visitors, as its admins and the operator manage them. 404 `UserNotFound` for other users. */
export class VisitorAccounts {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly directory: PoolDirectory
      readonly changes: AccountChanges
      readonly events: SecurityEvents
      readonly signOut: SignOut
    },
  ) {
    this.#deps = deps
  }

  /** Those that match all of the search, by address. */
  async list(site: Site, search: PageRequest & VisitorSearch): Promise<PageRows<VisitorAccount>> {
    const { userPoolId } = (await this.#deps.directory.get(site)).data
    const { email, q, ...rest } = search
    const filter = {
      ...rest,
      ...(email !== undefined && { email: canonicalEmail(email) }),
      ...(q !== undefined && { q: canonicalEmail(q) }),
    }
    const rows = await this.#deps.database.withSite(site.siteId, (tx) =>
      selectVisitors(tx, userPoolId, filter),
    )
    return pageRows(rows, search.limit, ({ username }) => username)
  }

  async get(site: Site, sub: string): Promise<VisitorAccountDetail> {
    const { userPoolId } = (await this.#deps.directory.get(site)).data
    const visitor = await this.#deps.database.withSite(site.siteId, (tx) =>
      selectVisitor(tx, { userPoolId, sub }, this.#deps.clock.now()),
    )
    if (!visitor) throw notFound('User', sub)
    return visitor
  }

  /** Blocks sign-ins to the account, and ends every existing one; its content stays. */
  disable(site: Site, sub: string, by: Actor): Promise<VisitorAccount> {
    return this.#changing(site, sub, async (tx, pool, visitor) => {
      if (visitor.status === 'DISABLED') return visitor
      const updatedAt = this.#deps.clock.now()
      await updateVisitorStatus(tx, { ...pool, sub }, 'DISABLED', updatedAt)
      await this.#deps.signOut.everywhere(tx, pool, sub, { by })
      await this.#record(tx, 'user.disabled', visitor, by)
      return { ...visitor, status: 'DISABLED', updatedAt }
    })
  }

  /** Its owner can sign in again; a deletion that its owner began ends. */
  enable(site: Site, sub: string, by: Actor): Promise<VisitorAccount> {
    return this.#changing(site, sub, async (tx, pool, visitor) => {
      if (visitor.status === 'ACTIVE') return visitor
      const updatedAt = this.#deps.clock.now()
      await this.reactivate(tx, { ...pool, sub }, updatedAt)
      await this.#record(tx, 'user.enabled', visitor, by)
      return { ...visitor, status: 'ACTIVE', updatedAt, deletedAt: null }
    })
  }

  /** Undefined when it is gone. Others who change the account wait until the transaction ends. */
  lock(tx: SiteTx, user: UserKey): Promise<VisitorAccount | undefined> {
    return selectVisitorForUpdate(tx, user)
  }

  /** Takes the account out of use, as long as its owner may take it back. */
  markDeleting(tx: SiteTx, user: UserKey, now: Date): Promise<void> {
    return updateVisitorStatus(tx, user, 'DELETING', now)
  }

  /** Takes the account into use again. */
  async reactivate(tx: SiteTx, user: UserKey, now: Date): Promise<void> {
    await updateVisitorStatus(tx, user, 'ACTIVE', now)
    await deleteDeletion(tx, user)
  }

  /** Ends every sign-in to the account, with its tokens. */
  async signOut(site: Site, sub: string, by: Actor): Promise<void> {
    await this.#changing(site, sub, (tx, pool) =>
      this.#deps.signOut.everywhere(tx, pool, sub, { by }),
    )
  }

  /** Deletes the account and everything that is kept for it, except for the audit trail. */
  async delete(site: Site, sub: string, by: Actor): Promise<void> {
    await this.#changing(site, sub, (tx, { userPoolId }, visitor) =>
      this.remove(tx, { userPoolId, visitor, by }),
    )
  }

  /** As `delete`, of an account that the transaction has locked. */
  async remove(
    tx: SiteTx,
    of: {
      readonly userPoolId: string
      readonly visitor: VisitorAccount
      readonly by: Actor
    },
  ): Promise<void> {
    const { userPoolId, visitor, by } = of
    const { sub, username: email } = visitor
    await deleteVisitor(tx, { userPoolId, sub, email })
    await this.#record(tx, 'user.deleted', visitor, by)
    await this.#deps.changes.userChanged(tx, sub)
  }

  async #changing<Result>(
    site: Site,
    sub: string,
    change: (tx: SiteTx, pool: Pool, visitor: VisitorAccount) => Promise<Result>,
  ): Promise<Result> {
    const { data } = await this.#deps.directory.get(site)
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const visitor = await selectVisitorForUpdate(tx, { userPoolId: data.userPoolId, sub })
      if (!visitor) throw notFound('User', sub)
      return change(tx, data, visitor)
    })
  }

  #record(
    tx: SiteTx,
    event: SecurityEventName,
    { sub, username }: VisitorAccount,
    by: Actor,
  ): Promise<void> {
    return this.#deps.events.record(tx, { event, pool: 'data', sub, email: username, by })
  }
}
