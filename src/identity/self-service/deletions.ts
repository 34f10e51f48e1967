import { SYSTEM } from '#base/actor.ts'
import { AppError, invalid, notFound } from '#base/app-error.ts'
import type { RequestOrigin } from '#base/request-origin.ts'
import type { AuthEmails } from '#identity/auth-emails/auth-emails.ts'
import { canonicalEmail } from '#identity/email.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { SignOut } from '#identity/sessions/sign-out.ts'
import type { UserKey } from '#identity/user-key.ts'
import type { VisitorAccount } from '#identity/visitor-accounts/model.ts'
import type { VisitorAccounts } from '#identity/visitor-accounts/visitor-accounts.ts'
import { t } from '#languages/message.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import { deletionLink } from './deletion-links.ts'
import {
  type StoredDeletion,
  deleteDueDeletion,
  selectDeletion,
  selectDueDeletions,
  selectNextDeletion,
  upsertDeletion,
} from './deletion-queries.ts'

/** How long an account can be restored. */
const RESTORE_MS = 7 * 24 * 3_600_000
const MAX_AT_ONCE = 50

/** The account that a link restores, and until when. */
export interface RestorableAccount {
  readonly email: string
  readonly expiresAt: Date
}

/** Visitors' accounts that their owners delete: out of use at once, gone after a week, and restored by a mailed link until then. */
export class AccountDeletions {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock' | 'ids' | 'queue'> & {
      readonly directory: PoolDirectory
      readonly events: SecurityEvents
      readonly authEmails: AuthEmails
      readonly signOut: SignOut
      readonly visitorAccounts: VisitorAccounts
      siteOf(siteId: string): Promise<Site>
    },
  ) {
    this.#deps = deps
    deps.queue.handle('account-deletion', ({ siteId }) => this.run(siteId), {
      // What the queue gives up after a day of tries is promised to its owner.
      givenUp: ({ siteId }) => deps.database.withSite(siteId, (tx) => this.schedule(tx)),
    })
  }

  /** 400 `ValidationError` unless the account's address was typed; 409 `CannotDeleteSelf` in the admin pool. */
  requireAddress({ pool }: PoolRequest, email: string, typed: string): void {
    requireVisitor(pool.kind)
    if (canonicalEmail(typed) !== email) {
      throw invalid('email', t('fault.other-address'))
    }
  }

  /** 404 `UserNotFound` for an account that cannot sign in, 409 `CannotDeleteSelf` in the admin pool. */
  async begin({ site, pool, origin }: PoolRequest, sub: string): Promise<Date> {
    requireVisitor(pool.kind)
    const { database, clock, events, signOut, visitorAccounts } = this.#deps
    const user = { userPoolId: pool.userPoolId, sub }
    const createdAt = clock.now()
    const expiresAt = new Date(createdAt.getTime() + RESTORE_MS)
    const link = deletionLink(this.#deps, pool)
    await database.withSite(site.siteId, async (tx) => {
      const visitor = await visitorAccounts.lock(tx, user)
      if (visitor?.status !== 'ACTIVE') throw notFound('User', sub)
      const email = visitor.username
      await visitorAccounts.markDeleting(tx, user, createdAt)
      await upsertDeletion(tx, user, { tokenHash: link.tokenHash, createdAt, expiresAt })
      await signOut.everywhere(tx, pool, sub, { by: { type: 'owner', origin } })
      const event = { event: 'user.deletion-begun', pool: pool.kind, sub, email, origin } as const
      await events.record(tx, event)
      await link.mail(tx, site, { to: email, expiresAt, asker: origin })
      await this.schedule(tx)
    })
    return expiresAt
  }

  /** What a link is about, without using it up. 410 `LinkExpired`. */
  find(site: Site, token: string): Promise<RestorableAccount> {
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const { visitor, expiresAt } = await this.#locked(tx, token)
      return { email: visitor.username, expiresAt }
    })
  }

  /** The account is as it was, and signed in nowhere. 410 `LinkExpired`. */
  async takeBack(site: Site, token: string, origin: RequestOrigin): Promise<RestorableAccount> {
    const { clock, events, visitorAccounts } = this.#deps
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const { visitor, expiresAt, ...user } = await this.#locked(tx, token)
      await visitorAccounts.reactivate(tx, user, clock.now())
      const { sub, username: email } = visitor
      await events.record(tx, { event: 'user.restored', pool: 'data', sub, email, origin })
      return { email, expiresAt }
    })
  }

  /** Queues the removal of those whose time is over, for when the next of them is. */
  async schedule(tx: SiteTx): Promise<void> {
    const next = await selectNextDeletion(tx)
    if (next === undefined) return
    const { siteId } = tx
    const waitMs = next.getTime() - this.#deps.clock.now().getTime()
    const startAfterSeconds = Math.max(0, Math.ceil(waitMs / 1000))
    const options = { singletonKey: siteId, startAfterSeconds }
    await this.#deps.queue.enqueue(tx, 'account-deletion', { siteId }, options)
  }

  /** Removes those of a site whose time is over: each by itself, so that one that cannot go keeps no other. */
  async run(siteId: string): Promise<void> {
    const { database, clock } = this.#deps
    const site = await this.#deps.siteOf(siteId).catch(ignoreDeletedSite)
    if (!site) return
    const due = await database.withSite(siteId, (tx) =>
      selectDueDeletions(tx, clock.now(), MAX_AT_ONCE),
    )
    const errors: unknown[] = []
    for (const user of due) {
      await this.#remove(site, user).catch((error: unknown) => errors.push(error))
    }
    // The queue tries this job again then, and it schedules the next.
    if (errors.length > 0) throw new AggregateError(errors, 'Accounts could not be removed')
    await database.withSite(siteId, (tx) => this.schedule(tx))
  }

  /** Unless it was restored since it was listed, or another replica was faster. */
  #remove(site: Site, user: UserKey): Promise<void> {
    const { database, clock, authEmails, visitorAccounts } = this.#deps
    return database.withSite(site.siteId, async (tx) => {
      const visitor = await visitorAccounts.lock(tx, user)
      if (!visitor || !(await deleteDueDeletion(tx, user, clock.now()))) return
      await visitorAccounts.remove(tx, { userPoolId: user.userPoolId, visitor, by: SYSTEM })
      await authEmails.send(tx, site, { kind: 'account-deleted', to: visitor.username })
    })
  }

  /** An admin may have disabled the account since: then no link restores it. */
  async #locked(
    tx: SiteTx,
    token: string,
  ): Promise<StoredDeletion & { readonly visitor: VisitorAccount }> {
    const now = this.#deps.clock.now()
    const found = await selectDeletion(tx, hashSecret(token), now)
    const visitor = found && (await this.#deps.visitorAccounts.lock(tx, found))
    // A concurrent request may have used it up.
    const deletion = await selectDeletion(tx, hashSecret(token), now)
    if (!deletion || visitor?.status !== 'DELETING') {
      throw new AppError('LinkExpired', t('error.restore-link'))
    }
    return { ...deletion, visitor }
  }
}

function requireVisitor(kind: PoolRequest['pool']['kind']): void {
  if (kind === 'admin') throw new AppError('CannotDeleteSelf', t('error.delete-self'))
}

function ignoreDeletedSite(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === 'SiteNotFound')) throw error
}
