import { timingSafeEqual } from 'node:crypto'

import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { hashSecret } from '#identity/hash-secret.ts'
import type { Pool } from '#identity/pools/model.ts'
import { deleteExpired } from '#platform/postgres/delete-expired.ts'
import type { Site } from '#sites/site.ts'

import type { LoginBinding } from './authorization-redirects.ts'
import type { FederationDeps } from './federation-deps.ts'
import { insertLoginState, takeLoginState } from './queries.ts'

const LOGIN_LIFETIME_MS = 10 * 60_000

/** The user who adds a provider to their account, and the token with which they requested it. */
export const LinkingUser = Type.Object({
  sub: Type.String(),
  familyId: Type.Optional(Type.String()),
  askedAtSeconds: Type.Number(),
})
export type LinkingUser = Static<typeof LinkingUser>

/** What has to be known again when a browser comes back from the provider. It is stored sealed. */
export const LoginState = Type.Object({
  /** SHA-256 of the secret in the browser's cookie, base64url. */
  bindingHash: Type.String(),
  /** The client's request, in its canonical form. */
  query: Type.String(),
  /** The provider's when the browser left: an answer of another provider does not count. */
  issuer: Type.String(),
  clientId: Type.String(),
  answersNameIssuer: Type.Boolean(),
  nonce: Type.String(),
  verifier: Type.String(),
  /** Where the provider sends the browser back to; the issuer's own callback where it is left out. */
  redirectUri: Type.Optional(Type.String()),
  /** What the client's `prompt=login` or `max_age` demand of the provider's `auth_time`. */
  authenticatedAfterSeconds: Type.Optional(Type.Number()),
  linker: Type.Optional(LinkingUser),
})
export type LoginState = Static<typeof LoginState>

/** Hexadecimal digits of the state's hash that name the cookie: it is found by the state, which stays a secret. */
const ID_LENGTH = 16
const STATE = /^[\w-]{43}$/

/** Sign-ins that are in progress at a provider. In the database, so that any replica can end them; each ends once. */
export class LoginStates {
  readonly #deps: FederationDeps

  constructor(deps: FederationDeps) {
    this.#deps = deps
  }

  /** Returns a state for the provider's URL and a secret for the browser's cookie: each is worthless without the other. */
  open(
    site: Site,
    pool: Pool,
    login: Omit<LoginState, 'bindingHash'>,
  ): Promise<{ readonly state: string; readonly binding: LoginBinding }> {
    const { clock, database, ids, sealer, siteKeys } = this.#deps
    const [state, token] = [ids.secret(), ids.secret()]
    const stateHash = hashSecret(state)
    const bindingHash = hashSecret(token).toString('base64url')
    const createdAt = clock.now()
    const expiresAt = new Date(createdAt.getTime() + LOGIN_LIFETIME_MS)
    return database.withSite(site.siteId, async (tx) => {
      const siteKey = await siteKeys.wrapped(tx)
      const text = Buffer.from(JSON.stringify({ ...login, bindingHash } satisfies LoginState))
      await deleteExpired(tx, 'provider_visit', createdAt)
      await insertLoginState(tx, {
        stateHash,
        userPoolId: pool.userPoolId,
        purpose: login.linker ? 'link' : 'sign-in',
        sealedState: sealer.seal(siteKey, sealContext(pool, stateHash), text),
        sub: login.linker?.sub ?? null,
        createdAt,
        expiresAt,
      })
      return { state, binding: { loginId: loginIdOf(state), token, expiresAt } }
    })
  }

  /** Ends the sign-in. Undefined when it is unknown or over; or was begun in another browser, which may still end it. */
  async take(
    site: Site,
    pool: Pool,
    state: string,
    bindingOf: (loginId: string) => string | undefined,
  ): Promise<LoginState | undefined> {
    const token = STATE.test(state) ? bindingOf(loginIdOf(state)) : undefined
    if (token === undefined) return undefined
    const { clock, database, sealer, siteKeys } = this.#deps
    const stateHash = hashSecret(state)
    return database
      .withSite(site.siteId, async (tx) => {
        const row = await takeLoginState(tx, pool.userPoolId, stateHash, clock.now())
        if (!row) return undefined
        const siteKey = await siteKeys.wrapped(tx)
        const text = sealer.open(siteKey, sealContext(pool, stateHash), row.sealedState)
        const login = Value.Parse(LoginState, JSON.parse(text.toString('utf8')))
        // Thrown, so that the row stays.
        if (!timingSafeEqual(hashSecret(token), Buffer.from(login.bindingHash, 'base64url'))) {
          throw new OtherBrowser()
        }
        return login
      })
      .catch((error: unknown) => {
        if (error instanceof OtherBrowser) return undefined
        throw error
      })
  }
}

class OtherBrowser extends Error {}

/** Names the cookie of a sign-in. */
export const loginIdOf = (state: string): string =>
  hashSecret(state).toString('hex').slice(0, ID_LENGTH)

const sealContext = (pool: Pool, stateHash: Buffer): string =>
  `provider-visit:${pool.userPoolId}:${stateHash.toString('hex')}`
