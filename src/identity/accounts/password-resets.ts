import { ipPrefix } from '#base/ip-prefix.ts'
import type { PreparedPassword } from '#identity/passwords/passwords.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import { networkRequester } from '#identity/user-codes/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { AccountServiceDeps } from './account-deps.ts'
import { lookupEmail } from './account-email.ts'
import { wrongCode } from './errors.ts'
import type { PasswordReset } from './model.ts'
import { lockUser, markVerified } from './queries.ts'

interface PreparedReset extends PoolRequest {
  readonly sub: string
  readonly email: string
  readonly code: string
  readonly prepared: PreparedPassword
}

/** New passwords for those who have forgotten theirs, against a code that goes to the account's address. */
export class PasswordResets {
  readonly #deps: AccountServiceDeps

  constructor(deps: AccountServiceDeps) {
    this.#deps = deps
  }

  /** Mails the account's owner a code. Whether there is an account is found out by the worker. 429. */
  async request(request: PoolRequest, typed: string): Promise<void> {
    const { database, ids, queue, rateLimiter, events } = this.#deps
    const email = lookupEmail(typed)
    await rateLimiter.beginMail({ ...request, email })
    const { site, pool, origin } = request
    const { siteId } = site
    const { language } = origin
    const requester = requesterOf(request)
    await database.withSite(siteId, async (tx) => {
      const { userPoolId } = pool
      const requestId = ids.uuid()
      const job = { siteId, userPoolId, email, requester, requestId, language }
      await queue.enqueue(tx, 'account-mail', { ...job, ask: 'reset' })
      await events.record(tx, { event: 'password.reset-requested', pool: pool.kind, email, origin })
    })
  }

  /** 400 `InvalidVerificationCode` or `InvalidPassword`, 429. Signs the user out everywhere. */
  async confirm(
    request: PoolRequest,
    { email: typed, code, password }: PasswordReset,
  ): Promise<void> {
    const { passwords, rateLimiter } = this.#deps
    const email = lookupEmail(typed)
    await passwords.check(request.pool, { email, password })
    const at = { ...request, email }
    const reset = { email, code, password }
    const sub = await rateLimiter.attempt('code', at, () => this.#try(request, reset))
    if (sub === undefined) throw wrongCode()
    await rateLimiter.reset(at)
  }

  /** The account's `sub`; undefined when it is refused. */
  async #try(
    request: PoolRequest,
    { email, code, password }: PasswordReset,
  ): Promise<string | undefined> {
    const { site, pool, origin } = request
    const { database, ids, users, passwords } = this.#deps
    const user = await database.withSite(site.siteId, (tx) =>
      users.findByEmail(tx, pool.userPoolId, email),
    )
    const sub = user?.sub ?? ids.uuid()
    const prepared = await passwords.hash(pool, {
      sub,
      email,
      password,
      address: origin.address,
    })
    const done = await database.withSite(site.siteId, (tx) =>
      this.#reset(tx, { ...request, sub, email, code, prepared }),
    )
    return done ? sub : undefined
  }

  /** False when it is refused; the attempt counts in either case. */
  async #reset(tx: SiteTx, resetting: PreparedReset): Promise<boolean> {
    const { site, pool, origin, sub, email, code, prepared } = resetting
    const { clock, users, passwords, userCodes, events, authEmails, signOut } = this.#deps
    const { userPoolId } = pool
    await lockUser(tx, { userPoolId, sub })
    const user = await users.find(tx, userPoolId, sub)
    const requester = requesterOf(resetting)
    const key = { userPoolId, sub, purpose: 'reset', requester } as const
    const address = await userCodes.take(tx, key, code)
    // A code dies with the address that it went to.
    const current = user?.status === 'ACTIVE' && user.email === email
    if (!current || address !== user.activeEmail) {
      await events.record(tx, { event: 'code.failed', pool: pool.kind, email, origin })
      return false
    }
    await userCodes.deleteResets(tx, { userPoolId, sub })
    await passwords.store(tx, pool, sub, prepared)
    await markVerified(tx, { userPoolId, sub, email: address }, clock.now())
    await signOut.everywhere(tx, pool, sub, { by: { type: 'owner', origin } })
    await events.record(tx, { event: 'password.reset', pool: pool.kind, sub, email, origin })
    const mail = { kind: 'password-changed', pool: pool.kind, to: user.activeEmail } as const
    await authEmails.send(tx, site, mail, origin)
    return true
  }
}

/** Whose code it is: of the browser that asked for it, or of the network where a program did. */
const requesterOf = ({ browser, origin }: PoolRequest): string =>
  browser === undefined ? networkRequester(ipPrefix(origin.address, 48)) : `browser ${browser.id}`
