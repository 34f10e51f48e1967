import { AppError } from '#base/app-error.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

import { type StoredRefreshToken, selectRefreshToken } from './queries.ts'
import type { TokenSetsDeps } from './token-sets-deps.ts'

export interface RevocationRequest {
  readonly clientId: string
  /** A refresh token or an access token. */
  readonly token: string
}

type SignInOf = Pick<StoredRefreshToken, 'sub' | 'familyId' | 'clientId'>

/** RFC 7009. Whichever of its tokens is given, the whole sign-in of that client ends. */
export class TokenRevocation {
  readonly #deps: TokenSetsDeps

  constructor(deps: TokenSetsDeps) {
    this.#deps = deps
  }

  async run(
    { site, pool, origin }: PoolRequest,
    { token, clientId }: RevocationRequest,
  ): Promise<void> {
    const signIn = token.includes('.')
      ? await this.#ofAccessToken(site, pool, token)
      : await this.#ofRefreshToken(site, pool, token)
    if (signIn?.clientId !== clientId) return
    const { sub, familyId } = signIn
    await this.#deps.database.withSite(site.siteId, async (tx) => {
      if (!(await this.#deps.families.end(tx, { userPoolId: pool.userPoolId, sub }, familyId)))
        return
      const event = { event: 'token.revoked', pool: pool.kind, sub, clientId, origin } as const
      await this.#deps.events.record(tx, event)
    })
  }

  async #ofRefreshToken(site: Site, pool: Pool, token: string): Promise<SignInOf | undefined> {
    const stored = await this.#deps.database.withSite(site.siteId, (tx) =>
      selectRefreshToken(tx, hashSecret(token)),
    )
    return stored?.userPoolId === pool.userPoolId ? stored : undefined
  }

  async #ofAccessToken(site: Site, pool: Pool, token: string): Promise<SignInOf | undefined> {
    try {
      const { claims } = await this.#deps.verifier.verify(site, pool.kind, token, ['access'])
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
