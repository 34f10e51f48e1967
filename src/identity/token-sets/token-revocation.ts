import { AppError } from '#base/app-error.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { SecurityEvents } from '#identity/security-events/service.ts'
import type { TokenFamilies } from '#identity/sessions/families.ts'
import type { TokenVerifier } from '#identity/tokens/token-verifier.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import { selectRefreshToken } from './queries.ts'

export interface RevocationRequest {
  readonly clientId: string
  /** A refresh token or an access token. */
  readonly token: string
  readonly origin: RequestOrigin
}

interface SignInOf {
  readonly sub: string
  readonly familyId: string
  readonly clientId: string
}

/** RFC 7009. Whichever of its tokens is given, the whole sign-in of that client ends. */
export class TokenRevocation {
  readonly #database: Database
  readonly #verifier: TokenVerifier
  readonly #families: TokenFamilies
  readonly #events: SecurityEvents

  constructor(deps: {
    database: Database
    verifier: TokenVerifier
    families: TokenFamilies
    events: SecurityEvents
  }) {
    this.#database = deps.database
    this.#verifier = deps.verifier
    this.#families = deps.families
    this.#events = deps.events
  }

  async run(site: Site, pool: Pool, revocation: RevocationRequest): Promise<void> {
    const { token, clientId, origin } = revocation
    const signIn = token.includes('.')
      ? await this.#ofAccessToken(site, pool, token)
      : await this.#ofRefreshToken(site, pool, token)
    if (signIn?.clientId !== clientId) return
    const { sub, familyId } = signIn
    await this.#database.withSite(site.siteId, async (tx) => {
      if (!(await this.#families.end(tx, { pool, sub }, familyId))) return
      const event = { event: 'token.revoked', pool: pool.kind, sub, clientId, origin } as const
      await this.#events.record(tx, event)
    })
  }

  async #ofRefreshToken(site: Site, pool: Pool, token: string): Promise<SignInOf | undefined> {
    const known = await this.#database.withSite(site.siteId, (tx) =>
      selectRefreshToken(tx, hashSecret(token)),
    )
    return known?.userPoolId === pool.userPoolId ? known : undefined
  }

  async #ofAccessToken(site: Site, pool: Pool, token: string): Promise<SignInOf | undefined> {
    try {
      const { claims } = await this.#verifier.verify(site, pool.kind, token, ['access'])
      const { sub, origin_jti: familyId, client_id: clientId } = claims
      return familyId === undefined || clientId === undefined
        ? undefined
        : { sub, familyId, clientId }
    } catch (error) {
      if (error instanceof AppError && error.code === 'Unauthorized') return undefined
      throw error
    }
  }
}
