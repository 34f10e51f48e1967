import { createHash, timingSafeEqual } from 'node:crypto'

import type { Pool } from '#identity/pools/model.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'
import type { Site } from '#sites/site.ts'

import type { LoginBinding } from './authorization-redirect.ts'
import type { FederationDeps } from './federation-deps.ts'
import {
  type LoginState,
  LOGIN_LIFETIME_MS,
  parseLoginState,
  serializeLoginState,
} from './login-state.ts'
import { insertLoginState, takeLoginState } from './queries.ts'

/** Named by the start of the state's hash: the cookie and the row find each other, the state stays a secret. */
const ID_LENGTH = 16
const STATE = /^[\w-]{43}$/

export interface NewLogin {
  readonly state: string
  readonly binding: LoginBinding
}

/** Visits to providers that have not come back. In the database, so that any replica can take them up; each good once. */
export class LoginStates {
  readonly #deps: FederationDeps

  constructor(deps: FederationDeps) {
    this.#deps = deps
  }

  /** A state for the provider's URL, a secret for the browser's cookie: neither says anything without the other. */
  prepare(): NewLogin {
    const state = this.#deps.ids.secret()
    const expiresAt = new Date(this.#deps.clock.now().getTime() + LOGIN_LIFETIME_MS)
    return {
      state,
      binding: { loginId: loginIdOf(state), token: this.#deps.ids.secret(), expiresAt },
    }
  }

  open(
    site: Site,
    pool: Pool,
    { state, binding }: NewLogin,
    visit: Omit<LoginState, 'bindingHash'>,
  ): Promise<void> {
    const bindingHash = hashOf(binding.token).toString('base64url')
    const stateHash = hashOf(state)
    const createdAt = this.#deps.clock.now()
    return this.#deps.database.withSite(site.siteId, async (tx) => {
      const siteKey = await this.#deps.siteKeys.wrapped(tx)
      const text = serializeLoginState({ ...visit, bindingHash })
      await deleteExpired(tx, 'provider_visit', createdAt)
      await insertLoginState(tx, {
        stateHash,
        userPoolId: pool.userPoolId,
        purpose: visit.linker ? 'link' : 'sign-in',
        sealedVisit: this.#deps.sealer.seal(siteKey, sealContext(pool, stateHash), text),
        sub: visit.linker?.sub ?? null,
        createdAt,
        expiresAt: binding.expiresAt,
      })
    })
  }

  /**
   * Ends the visit. Undefined when it is unknown, over, or was begun in another browser: then it goes on, for the
   * browser that began it.
   */
  async take(
    site: Site,
    pool: Pool,
    state: string,
    bindingOf: (loginId: string) => string | undefined,
  ): Promise<LoginState | undefined> {
    const token = STATE.test(state) ? bindingOf(loginIdOf(state)) : undefined
    if (token === undefined) return undefined
    const stateHash = hashOf(state)
    return this.#deps.database
      .withSite(site.siteId, async (tx) => {
        const row = await takeLoginState(tx, pool.userPoolId, stateHash, this.#deps.clock.now())
        if (!row) return undefined
        const siteKey = await this.#deps.siteKeys.wrapped(tx)
        const context = sealContext(pool, stateHash)
        const visit = parseLoginState(this.#deps.sealer.open(siteKey, context, row.sealedVisit))
        // Thrown, so that the row stays.
        if (!timingSafeEqual(hashOf(token), Buffer.from(visit.bindingHash, 'base64url'))) {
          throw new OtherBrowser()
        }
        return visit
      })
      .catch((error: unknown) => {
        if (error instanceof OtherBrowser) return undefined
        throw error
      })
  }
}

class OtherBrowser extends Error {}

/** What the cookie of a visit is named for. */
export const loginIdOf = (state: string): string =>
  hashOf(state).toString('hex').slice(0, ID_LENGTH)

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()

const sealContext = (pool: Pool, stateHash: Buffer): string =>
  `provider-visit:${pool.userPoolId}:${stateHash.toString('hex')}`
