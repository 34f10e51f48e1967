import { ipPrefix } from '#base/ip-prefix.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { User } from '#identity/users/model.ts'
import type { Site } from '#sites/site.ts'

import type { AccountServiceDeps } from './account-deps.ts'
import { lookupEmail } from './account-email.ts'
import { newestFromNetwork } from './candidate-sign-ups.ts'
import { wrongCredentials } from './errors.ts'
import type { AuthenticationResult, Credentials } from './model.ts'
import { type PendingSignUp, selectSignUps } from './sign-up-queries.ts'

/** Sign-in by password. For every address the same statements run and one password is hashed. */
export class PasswordSignIns {
  readonly #deps: AccountServiceDeps

  constructor(deps: AccountServiceDeps) {
    this.#deps = deps
  }

  /** 401 `InvalidCredentials`, 429. */
  async authenticate(
    request: PoolRequest,
    { email: typed, password }: Credentials,
  ): Promise<AuthenticationResult> {
    const email = lookupEmail(typed)
    const credentials = { email, password }
    const user = await this.#deps.rateLimiter.attempt('account', { ...request, email }, () =>
      this.#compare(request, credentials),
    )
    if (user) return { kind: 'signed-in', user }
    // Does not reset failures as a success does: a person who knows a sign-up's password may still be guessing at the account's.
    const signUp = await this.#waiting(request, credentials)
    if (!signUp) throw wrongCredentials()
    return { kind: 'unconfirmed', registrationId: signUp.registrationId }
  }

  async #compare(
    { site, pool, origin }: PoolRequest,
    { email, password }: Credentials,
  ): Promise<User | undefined> {
    const { passwords, events } = this.#deps
    const { user, hash } = await this.#claimed(site, pool, email)
    const right = await passwords.verify(hash, password, origin.address)
    if (!right || !user || hash === undefined) {
      const event = { event: 'sign-in.failed', pool: pool.kind, sub: user?.sub } as const
      await events.note(site.siteId, { ...event, email, origin })
      return undefined
    }
    const { address } = origin
    await passwords.renew(site, pool, { sub: user.sub, email, password, hash, address })
    return user
  }

  /** Returns the account, as far as there is one, and the hash that the password is compared with. */
  #claimed(site: Site, pool: Pool, email: string) {
    const { database, ids, users, passwords } = this.#deps
    return database.withSite(site.siteId, async (tx) => {
      const user = await users.findByEmail(tx, pool.userPoolId, email)
      const hash = await passwords.hashOf(tx, pool, user?.sub ?? ids.uuid())
      return { user, hash: user?.status === 'ACTIVE' ? hash : undefined }
    })
  }

  /**
   * The sign-up with that password, whether the address has an account or not: a person who signed up with another's address must
   * not learn it by signing in. Only the newest from their network, so that the time it takes reveals nothing to other networks.
   */
  async #waiting(
    { site, pool, origin }: PoolRequest,
    { email, password }: Credentials,
  ): Promise<PendingSignUp | undefined> {
    const { database, clock, passwords } = this.#deps
    const place = { userPoolId: pool.userPoolId, email }
    const waiting = await database.withSite(site.siteId, (tx) =>
      selectSignUps(tx, place, clock.now()),
    )
    const { address } = origin
    const signUp = newestFromNetwork(waiting, ipPrefix(address))
    return signUp && (await passwords.verify(signUp.hash, password, address)) ? signUp : undefined
  }
}
