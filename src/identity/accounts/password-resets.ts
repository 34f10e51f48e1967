import type { PreparedPassword } from '#identity/passwords/service.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import type { AccountServiceDeps } from './account-deps.ts'
import { lookupEmail } from './account-email.ts'
import { deleteResetCode, takeResetAttempt } from './code-queries.ts'
import { wrongCode } from './errors.ts'
import type { PasswordReset } from './model.ts'
import { lockUser, markVerified } from './queries.ts'

interface PreparedReset {
  readonly pool: Pool
  readonly sub: string
  readonly email: string
  readonly code: string
  readonly prepared: PreparedPassword
  readonly origin: RequestOrigin
}

/** New passwords for those who have forgotten theirs, against a code that goes to the account's address. */
export class PasswordResets {
  readonly #deps: AccountServiceDeps

  constructor(deps: AccountServiceDeps) {
    this.#deps = deps
  }

  /** Mails the account's owner a code. Whether there is an account is found out by the worker. 429. */
  async request(site: Site, pool: Pool, typed: string, origin: RequestOrigin): Promise<void> {
    const { database, queue, rateLimiter, events } = this.#deps
    const email = lookupEmail(typed)
    await rateLimiter.beginMail(site, { pool, email, origin })
    const { siteId } = site
    await database.withSite(siteId, async (tx) => {
      const job = { siteId, userPoolId: pool.userPoolId, email, ask: 'reset' } as const
      await queue.enqueue(tx, 'account-mail', job)
      await events.record(tx, { event: 'password.reset-requested', pool: pool.kind, email, origin })
    })
  }

  /** 400 `InvalidVerificationCode` or `InvalidPassword`, 429. Signs the user out everywhere. */
  async confirm(
    site: Site,
    pool: Pool,
    { email: typed, code, password }: PasswordReset,
    origin: RequestOrigin,
  ): Promise<void> {
    const { passwords, rateLimiter } = this.#deps
    const email = lookupEmail(typed)
    await passwords.check(pool, { email, password })
    const at = { pool, email, origin }
    const reset = { email, code, password }
    const sub = await rateLimiter.attempt(site, 'code', at, () =>
      this.#try(site, pool, reset, origin),
    )
    if (sub === undefined) throw wrongCode()
    await rateLimiter.reset(site, at)
  }

  /** The account's `sub`; undefined when it is refused. */
  async #try(
    site: Site,
    pool: Pool,
    { email, code, password }: PasswordReset,
    origin: RequestOrigin,
  ): Promise<string | undefined> {
    const { database, ids, users, passwords } = this.#deps
    const user = await database.withSite(site.siteId, (tx) =>
      users.findByEmail(tx, pool.userPoolId, email),
    )
    const sub = user?.sub ?? ids.uuid()
    const prepared = await passwords.hash(pool, { sub, email, password })
    const done = await database.withSite(site.siteId, (tx) =>
      this.#reset(tx, site, { pool, sub, email, code, prepared, origin }),
    )
    return done ? sub : undefined
  }

  /** False when it is refused; the try counts all the same. */
  async #reset(tx: SiteTx, site: Site, resetting: PreparedReset): Promise<boolean> {
    const { pool, sub, email, code, prepared, origin } = resetting
    const { clock, users, passwords, codes, events, authEmails, signOut } = this.#deps
    const { userPoolId } = pool
    await lockUser(tx, { userPoolId, sub })
    const user = await users.find(tx, userPoolId, sub)
    const taken = await takeResetAttempt(tx, { userPoolId, sub }, clock.now())
    const scope = { siteId: tx.siteId, userPoolId, purpose: 'reset', id: sub } as const
    const right = codes.matches(taken?.codeHash, scope, code)
    // A code dies with the address that it went to.
    const current = user?.status === 'ACTIVE' && user.email === email
    if (!right || !current || taken?.email !== user.activeEmail) {
      await events.record(tx, { event: 'code.failed', pool: pool.kind, email, origin })
      return false
    }
    await deleteResetCode(tx, { userPoolId, sub })
    await passwords.store(tx, pool, sub, prepared)
    await markVerified(tx, { userPoolId, sub, email: taken.email }, clock.now())
    await signOut.everywhere(tx, pool, sub, { origin })
    await events.record(tx, { event: 'password.reset', pool: pool.kind, sub, email, origin })
    await authEmails.send(tx, site, {
      kind: 'password-changed',
      pool: pool.kind,
      to: user.activeEmail,
    })
    return true
  }
}
