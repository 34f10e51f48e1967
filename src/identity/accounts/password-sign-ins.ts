import { networkOf } from '#base/network-of.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { User } from '#identity/users/model.ts'
import type { Site } from '#sites/site.ts'

import type { AccountServiceDeps } from './account-deps.ts'
import { lookupEmail } from './account-email.ts'
import { newestFromNetwork } from './candidate-sign-ups.ts'
import { wrongCredentials } from './errors.ts'
import type { AuthenticationResult, Credentials } from './model.ts'
import { type PendingSignUp, selectSignUps } from './sign-up-queries.ts'

/** An account, as far as there is one, and the password that is compared. */
interface PasswordCandidate {
  readonly user: User | undefined
  readonly hash: string | undefined
}

/** Sign-in by password. Whoever it is, the same statements run and one password is hashed. */
export class PasswordSignIns {
  readonly #deps: AccountServiceDeps

  constructor(deps: AccountServiceDeps) {
    this.#deps = deps
  }

  /** 401 `InvalidCredentials`, 429. */
  async authenticate(
    site: Site,
    pool: Pool,
    { email: typed, password }: Credentials,
    origin: RequestOrigin,
  ): Promise<AuthenticationResult> {
    const credentials = { email: lookupEmail(typed), password }
    const at = { pool, email: credentials.email, origin }
    const user = await this.#deps.rateLimiter.attempt(site, 'account', at, () =>
      this.#compare(site, pool, credentials, origin),
    )
    if (user) return { kind: 'signed-in', user }
    // Not forgiven as a success is: whoever knows a sign-up's password may still be guessing at the account's.
    const signUp = await this.#waiting(site, pool, credentials, origin)
    if (!signUp) throw wrongCredentials()
    return { kind: 'unconfirmed', registrationId: signUp.registrationId }
  }

  async #compare(
    site: Site,
    pool: Pool,
    { email, password }: Credentials,
    origin: RequestOrigin,
  ): Promise<User | undefined> {
    const { passwords, events } = this.#deps
    const { user, hash } = await this.#claimed(site, pool, email)
    const right = await passwords.verify(hash, password)
    if (!right || !user || hash === undefined) {
      const sub = user?.sub
      await events.note(site.siteId, {
        event: 'sign-in.failed',
        pool: pool.kind,
        sub,
        email,
        origin,
      })
      return undefined
    }
    await passwords.renew(site, pool, { sub: user.sub, email, password, hash })
    return user
  }

  #claimed(site: Site, pool: Pool, email: string): Promise<PasswordCandidate> {
    const { database, ids, users, passwords } = this.#deps
    return database.withSite(site.siteId, async (tx) => {
      const user = await users.findByEmail(tx, pool.userPoolId, email)
      const hash = await passwords.hashOf(tx, pool, user?.sub ?? ids.uuid())
      return { user, hash: user?.status === 'ACTIVE' ? hash : undefined }
    })
  }

  /**
   * The sign-up of who gives its password, whether the address has an account or not: whoever signed up with somebody's
   * address must not learn it by signing in. Only the newest from where they are, so that nobody elsewhere can tell by the
   * time that it takes that one waits.
   */
  async #waiting(
    site: Site,
    pool: Pool,
    { email, password }: Credentials,
    origin: RequestOrigin,
  ): Promise<PendingSignUp | undefined> {
    const { database, clock, passwords } = this.#deps
    const place = { userPoolId: pool.userPoolId, email }
    const waiting = await database.withSite(site.siteId, (tx) =>
      selectSignUps(tx, place, clock.now()),
    )
    const signUp = newestFromNetwork(waiting, networkOf(origin.address))
    return signUp && (await passwords.verify(signUp.hash, password)) ? signUp : undefined
  }
}
