import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import { networkOf } from '#identity/defence/network-of.ts'
import type { Tries } from '#identity/defence/tries.ts'
import type { Passwords } from '#identity/passwords/service.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
import type { User } from '#identity/users/model.ts'
import type { Users } from '#identity/users/service.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import { lookupEmail } from './account-email.ts'
import { likeliestSignUp } from './candidate-sign-ups.ts'
import type { Authenticated, Credentials } from './model.ts'
import { wrongCredentials } from './refusals.ts'
import { type PendingSignUp, selectSignUps } from './sign-up-queries.ts'

export interface PasswordSignInsDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly users: Users
  readonly passwords: Passwords
  readonly tries: Tries
  readonly events: SecurityEvents
}

/** What an address may stand for, and the one password that is compared. */
interface Claimed {
  readonly user: User | undefined
  readonly signUp: PendingSignUp | undefined
  readonly hash: string | undefined
}

/** Sign-in by password. Whoever it is, the same statements run and one password is hashed. */
export class PasswordSignIns {
  readonly #deps: PasswordSignInsDeps

  constructor(deps: PasswordSignInsDeps) {
    this.#deps = deps
  }

  async authenticate(
    site: Site,
    pool: Pool,
    { email: typed, password }: Credentials,
    origin: RequestOrigin,
  ): Promise<Authenticated> {
    const email = lookupEmail(typed)
    const outcome = await this.#deps.tries.make(site, 'account', { pool, email, origin }, () =>
      this.#compare(site, pool, { email, password }, origin),
    )
    if (!outcome) throw wrongCredentials()
    return outcome
  }

  async #compare(
    site: Site,
    pool: Pool,
    { email, password }: Credentials,
    origin: RequestOrigin,
  ): Promise<Authenticated | undefined> {
    const { passwords, events } = this.#deps
    const { user, signUp, hash } = await this.#claimed(site, pool, email, origin)
    const right = await passwords.verify(hash, password)
    if (!right || hash === undefined) {
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
    if (!user) return { kind: 'unconfirmed', registrationId: signUp?.registrationId ?? '' }
    await passwords.renew(site, pool, { sub: user.sub, email, password, hash })
    return { kind: 'signed-in', user }
  }

  /** An account leaves no room for sign-ups with its address, even one that has no password. */
  #claimed(site: Site, pool: Pool, email: string, origin: RequestOrigin): Promise<Claimed> {
    const { database, clock, ids, users, passwords } = this.#deps
    const { userPoolId } = pool
    return database.withSite(site.siteId, async (tx) => {
      const user = await users.findByEmail(tx, userPoolId, email)
      const own = await passwords.hashOf(tx, pool, user?.sub ?? ids.uuid())
      const waiting = await selectSignUps(tx, { userPoolId, email }, clock.now())
      const signUp = user ? undefined : likeliestSignUp(waiting, networkOf(origin.address))
      const hash = user?.status === 'ACTIVE' ? own : signUp?.hash
      return { user, signUp, hash }
    })
  }
}
