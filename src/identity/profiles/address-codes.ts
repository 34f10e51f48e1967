import { wrongCode } from '#identity/accounts/errors.ts'
import { MailedCodes, VERIFICATION_LIFETIME_MS } from '#identity/mailed-codes.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { AuthRateLimiter } from '#identity/rate-limits/auth-rate-limiter.ts'
import type { SecurityEvents } from '#identity/security-events/security-events.ts'
import type { UserCodeKey } from '#identity/user-codes/model.ts'
import { UserCodes } from '#identity/user-codes/user-codes.ts'
import type { Users } from '#identity/users/users.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'

import type { AddressChanges } from './address-changes.ts'

/** New addresses that prove themselves by a code, for programs that have a field for one and no page. */
export class AddressCodes {
  readonly #deps
  readonly #codes: UserCodes

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly sealer: Sealer
      readonly users: Users
      readonly events: SecurityEvents
      readonly rateLimiter: AuthRateLimiter
      readonly addressChanges: AddressChanges
    },
  ) {
    this.#deps = deps
    this.#codes = new UserCodes({ ...deps, codes: new MailedCodes(deps) })
  }

  /** The response is the same whether the address has another account or not. 400 `ValidationError`, 429. */
  request(request: PoolRequest, sub: string, email: string): Promise<void> {
    const lifetimeMs = VERIFICATION_LIFETIME_MS
    return this.#deps.addressChanges.requestByOwner(request, sub, email, async (tx, to) => {
      const created = await this.#codes.create(tx, keyOf(request, sub), { email: to, lifetimeMs })
      return created.code
    })
  }

  /** The account has its new address from now on. 400 `InvalidVerificationCode`, 429. */
  async confirm(request: PoolRequest, sub: string, code: string): Promise<void> {
    const { site, pool, origin } = request
    const { database, users, rateLimiter, events } = this.#deps
    const { email } = await database.withSite(site.siteId, (tx) =>
      users.active(tx, pool.userPoolId, sub),
    )
    const done = await rateLimiter.attempt('code', { ...request, email }, () =>
      database.withSite(site.siteId, async (tx) => {
        if (await this.#confirm(tx, request, sub, code)) return true
        await events.record(tx, { event: 'code.failed', pool: pool.kind, sub, email, origin })
        return undefined
      }),
    )
    if (!done) throw wrongCode()
  }

  /** The try counts in any case. */
  async #confirm(tx: SiteTx, request: PoolRequest, sub: string, code: string): Promise<boolean> {
    const key = keyOf(request, sub)
    const email = await this.#codes.take(tx, key, code)
    if (email === undefined) return false
    await this.#codes.delete(tx, key)
    return this.#deps.addressChanges.confirmPending(tx, request, { sub, email })
  }
}

const keyOf = ({ pool }: PoolRequest, sub: string): UserCodeKey => ({
  userPoolId: pool.userPoolId,
  sub,
  purpose: 'address',
  requester: '',
})
