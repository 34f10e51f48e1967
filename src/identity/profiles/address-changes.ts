import { AppError, invalid, notFound } from '#base/app-error.ts'
import type { RequestOrigin } from '#base/request-origin.ts'
import { newEmail } from '#identity/accounts/account-email.ts'
import type { AuthEmails } from '#identity/auth-emails/auth-emails.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import type { Passwords } from '#identity/passwords/passwords.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import { type SitePools, issuerBaseUrl } from '#identity/pools/model.ts'
import type { AuthRateLimiter } from '#identity/rate-limits/auth-rate-limiter.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { SignOut } from '#identity/sessions/sign-out.ts'
import type { Users } from '#identity/users/users.ts'
import { t } from '#languages/message.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { Site } from '#sites/site.ts'

import {
  type StoredAddressChange,
  deleteAddressChanges,
  deletePendingChanges,
  insertAddressChange,
  markProven,
  selectAddressChange,
  selectEmailHolder,
  selectPendingChange,
} from './address-change-queries.ts'
import type { StoredProfile } from './model.ts'
import { deleteCodes, selectProfileForUpdate, updateProfile } from './queries.ts'
import { deleteSignInMethodsSince } from './sign-in-method-queries.ts'

const HOUR_MS = 3600 * 1000
/** How long the new address may take to prove itself. */
const PROOF_MS = 24 * HOUR_MS
/** How long the old address can take the account back. */
const UNDO_MS = 7 * 24 * HOUR_MS

/** Below a site's own address; the token follows. */
export const ADDRESS_PATHS = {
  confirm: '/admin/public/address/confirm',
  undo: '/admin/public/address/undo',
} as const
export type AddressLink = keyof typeof ADDRESS_PATHS

/** From where a new address is asked for, and by which admin; null for the owner. */
type AddressRequest = Pick<PoolRequest, 'site' | 'origin'> &
  Pick<StoredAddressChange, 'requestedBy'>

type ProofMail = AddressRequest & {
  readonly kind: PoolKind
  /** Mailed instead of a link. */
  readonly code?: string | undefined
}

/** New addresses of accounts: proven by a link that is mailed to them, undone by one that is mailed to the old ones. */
export class AddressChanges {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock' | 'ids'> & {
      readonly baseUrl: string
      readonly directory: PoolDirectory
      readonly authEmails: AuthEmails
      readonly events: SecurityEvents
      readonly signOut: SignOut
      readonly users: Users
      readonly rateLimiter: Pick<AuthRateLimiter, 'beginMail'>
      readonly passwords: Pick<Passwords, 'remove'>
    },
  ) {
    this.#deps = deps
  }

  /** 409 `UserAlreadyExists` for an address that another account has, or may still restore. `sub` is absent for a new account. */
  async requireFree(
    tx: SiteTx,
    account: { readonly userPoolId: string; readonly sub?: string },
    email: string,
  ): Promise<void> {
    if (await this.#isFree(tx, account, email)) return
    throw new AppError(
      'UserAlreadyExists',
      `There is a user with the address "${email}" already, or was one within a week`,
    )
  }

  /** Mails the new address; nothing changes before it answers. 409 `UserAlreadyExists`. */
  async request(
    tx: SiteTx,
    { site, origin, requestedBy }: AddressRequest,
    account: StoredProfile,
    newEmail: string,
  ): Promise<void> {
    await this.requireFree(tx, account, newEmail)
    await this.#mailProof(tx, { site, kind: 'admin', origin, requestedBy }, account, newEmail)
  }

  /**
   * The same for a request on the page of their account. The response is the same whether the address has another account or not:
   * in that case the owner of that account is notified. 400 `ValidationError` for their own address, 429. With `codeFor` the new
   * address is mailed the code that it makes instead of a link.
   */
  async requestByOwner(
    request: PoolRequest,
    sub: string,
    wanted: string,
    codeFor?: (tx: SiteTx, email: string) => Promise<string>,
  ): Promise<void> {
    const { database, rateLimiter, users, authEmails } = this.#deps
    const { site, pool, origin } = request
    const email = newEmail(wanted)
    await rateLimiter.beginMail({ ...request, email })
    await database.withSite(site.siteId, async (tx) => {
      const account = await selectProfileForUpdate(tx, { userPoolId: pool.userPoolId, sub })
      if (account?.status !== 'ACTIVE') throw notFound('User', sub)
      if (account.primaryEmail === email) throw invalid('email', t('fault.own-address'))
      const holder = await users.findByEmail(tx, pool.userPoolId, email)
      if (!holder && (await this.#isFree(tx, account, email))) {
        const code = await codeFor?.(tx, email)
        const asked = { site, kind: pool.kind, origin, requestedBy: null, code }
        await this.#mailProof(tx, asked, account, email)
        return
      }
      await deletePendingChanges(tx, account)
      const to = holder?.activeEmail ?? email
      await authEmails.send(tx, site, { kind: 'address-taken', pool: pool.kind, to }, origin)
    })
  }

  /** Whether neither another account has the address nor one may take it back. */
  async #isFree(
    tx: SiteTx,
    { userPoolId, sub }: { readonly userPoolId: string; readonly sub?: string },
    email: string,
  ): Promise<boolean> {
    const holder = await selectEmailHolder(tx, userPoolId, email, this.#deps.clock.now())
    return holder === undefined || holder.sub === sub
  }

  async #mailProof(
    tx: SiteTx,
    { site, kind, origin, requestedBy, code }: ProofMail,
    account: StoredProfile,
    newEmail: string,
  ): Promise<void> {
    const { clock, ids, authEmails } = this.#deps
    const { userPoolId, sub, primaryEmail: oldEmail } = account
    const createdAt = clock.now()
    await deletePendingChanges(tx, account)
    await deleteExpired(tx, 'address_change', createdAt)
    const token = ids.secret()
    const expiresAt = new Date(createdAt.getTime() + PROOF_MS)
    await insertAddressChange(tx, {
      changeId: ids.named('adr'),
      userPoolId,
      sub,
      oldEmail,
      newEmail,
      tokenHash: hashSecret(token),
      createdAt,
      expiresAt,
      requestedBy,
    })
    const to = { pool: kind, to: newEmail }
    const url = this.#url(site, kind, 'confirm', token)
    await authEmails.send(
      tx,
      site,
      code === undefined
        ? { kind: 'address-proof', ...to, url, expiresAt }
        : { kind: 'verification', ...to, code },
      origin,
    )
  }

  /** What a link is about, without using it up. 410 `LinkExpired`. */
  find(site: Site, link: AddressLink, token: string): Promise<StoredAddressChange> {
    return this.#deps.database.withSite(site.siteId, (tx) => this.#change(tx, link, token))
  }

  /**
   * The account has its new address from now on. Every sign-in ends where an admin asked for it, who may be giving the account to
   * another person. 409 `UserAlreadyExists`, 410 `LinkExpired`.
   */
  async confirm(site: Site, token: string, origin: RequestOrigin): Promise<StoredAddressChange> {
    const pools = await this.#deps.directory.get(site)
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const { change, account } = await this.#locked(tx, 'confirm', token)
      if (account.primaryEmail !== change.oldEmail) throw linkExpired('confirm')
      await this.#take(tx, { site, kind: kindIn(pools, change), origin }, change, account)
      return change
    })
  }

  /** The same for a user who has shown a code that went to the new address. False when that address does not wait. */
  async confirmPending(
    tx: SiteTx,
    { site, pool, origin }: PoolRequest,
    { sub, email }: { readonly sub: string; readonly email: string },
  ): Promise<boolean> {
    const user = { userPoolId: pool.userPoolId, sub }
    const account = await selectProfileForUpdate(tx, user)
    const change = await selectPendingChange(tx, user, this.#deps.clock.now())
    if (account?.status !== 'ACTIVE' || change?.newEmail !== email) return false
    if (account.primaryEmail !== change.oldEmail) return false
    await this.#take(tx, { site, kind: pool.kind, origin }, change, account)
    return true
  }

  /** Gives the account its new address, and the old one a link that undoes it. 409 `UserAlreadyExists`. */
  async #take(
    tx: SiteTx,
    { site, kind, origin }: Omit<ProofMail, 'requestedBy'>,
    { changeId, oldEmail, newEmail, requestedBy }: StoredAddressChange,
    account: StoredProfile,
  ): Promise<void> {
    const { clock, ids, authEmails, signOut } = this.#deps
    const now = clock.now()
    await this.requireFree(tx, account, newEmail)
    const by = requestedBy === null ? {} : { requestedBy }
    await this.#move(tx, kind, account, { to: newEmail, origin, detail: by })
    const { userPoolId, sub } = account
    if (requestedBy !== null) {
      await signOut.everywhere(tx, { userPoolId, kind }, sub, {
        by: { type: 'known', id: requestedBy, origin },
      })
    }
    const undoToken = ids.secret()
    const expiresAt = new Date(now.getTime() + UNDO_MS)
    await markProven(tx, changeId, { tokenHash: hashSecret(undoToken), provenAt: now, expiresAt })
    const undo = { url: this.#url(site, kind, 'undo', undoToken), expiresAt }
    const mail = { kind: 'address-changed', pool: kind, to: oldEmail, undo } as const
    await authEmails.send(tx, site, mail, origin)
  }

  /**
   * Gives the account back to its old address. A password, passkeys, an authenticator app and providers that were added since the
   * change was requested are removed, mail about the account goes to the old address, and every sign-in ends: a reset sets a new
   * password. 410 `LinkExpired`.
   */
  async undo(site: Site, token: string, origin: RequestOrigin): Promise<StoredAddressChange> {
    const pools = await this.#deps.directory.get(site)
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const { change, account } = await this.#locked(tx, 'undo', token)
      const { oldEmail, userPoolId, sub } = change
      const owned = { ...account, activeAddress: 'primary' } as const
      const removed = await deleteSignInMethodsSince(tx, change, change.createdAt)
      await this.#move(tx, kindIn(pools, change), owned, {
        to: oldEmail,
        origin,
        detail: { undone: true, ...(removed.length > 0 && { removed: removed.join(' ') }) },
      })
      await this.#deps.passwords.remove(tx, change)
      await deleteAddressChanges(tx, change)
      const pool = { userPoolId, kind: kindIn(pools, change) }
      await this.#deps.signOut.everywhere(tx, pool, sub, { by: { type: 'owner', origin } })
      return change
    })
  }

  /** The account before the row that is about it, in the order of other writers. */
  async #locked(
    tx: SiteTx,
    link: AddressLink,
    token: string,
  ): Promise<{ readonly change: StoredAddressChange; readonly account: StoredProfile }> {
    const seen = await this.#change(tx, link, token)
    const account = await selectProfileForUpdate(tx, seen)
    // Another request may have used it up since.
    const change = await this.#change(tx, link, token)
    if (!account) throw linkExpired(link)
    return { change, account }
  }

  async #change(tx: SiteTx, link: AddressLink, token: string): Promise<StoredAddressChange> {
    const change = await selectAddressChange(tx, hashSecret(token), this.#deps.clock.now())
    const isFor: AddressLink = change?.provenAt ? 'undo' : 'confirm'
    if (!change || isFor !== link) throw linkExpired(link)
    return change
  }

  /** A person who gets mail at an address has just shown it, so it is verified. */
  async #move(
    tx: SiteTx,
    kind: PoolKind,
    account: StoredProfile,
    {
      to,
      origin,
      detail,
    }: {
      readonly to: string
      readonly origin: RequestOrigin
      readonly detail: Readonly<Record<string, boolean | string>>
    },
  ): Promise<void> {
    const { clock, events } = this.#deps
    const updated = { ...account, primaryEmail: to, emailVerified: true, updatedAt: clock.now() }
    await updateProfile(tx, account, updated)
    await deleteCodes(tx, account)
    await events.record(tx, {
      event: 'user.changed',
      pool: kind,
      sub: account.sub,
      email: to,
      origin,
      detail: { fields: 'primaryEmail', previousEmail: account.primaryEmail, ...detail },
    })
  }

  #url(site: Site, kind: PoolKind, link: AddressLink, token: string): string {
    const base = issuerBaseUrl(this.#deps.baseUrl, site, kind)
    return `${base}${ADDRESS_PATHS[link]}?token=${token}`
  }
}

const kindIn = (
  { admin, data }: SitePools,
  { userPoolId }: { readonly userPoolId: string },
): PoolKind => (userPoolId === data.userPoolId ? data.kind : admin.kind)

const linkExpired = (link: AddressLink): AppError =>
  new AppError('LinkExpired', t(link === 'confirm' ? 'error.confirm-link' : 'error.undo-link'))
