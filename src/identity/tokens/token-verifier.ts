import { AppError } from '#base/app-error.ts'
import type { Clock } from '#base/clock.ts'
import { isPublished } from '#identity/keys/model.ts'
import type { PoolKind } from '#identity/pool-kind.ts'
import type { PoolDirectory } from '#identity/pools/directory.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

import { type TokenClients, clientIdOf, failedClaimCheck } from './claim-checks.ts'
import type { TokenClaims, TokenUse } from './claims.ts'
import { unauthorized } from './refusals.ts'
import { SignatureVerifier } from './signature-verifier.ts'

export interface Verified {
  readonly claims: TokenClaims
  readonly pool: Pool
  /** Everything else is valid. The caller checks the user first and then throws `TokenExpired`. */
  readonly expired: boolean
}

/** What a token is taken for. */
interface TokenPurpose {
  readonly uses: readonly TokenUse[]
  readonly clients: TokenClients
}

/** Where the pools of a site come from; `reload` looks again for a key that is not known. */
export type PoolSource = Pick<PoolDirectory, 'get' | 'reload'>

/** Signature and claims of a token, against the pool of the site that the request was sent to. */
export class TokenVerifier {
  readonly #directory: PoolSource
  readonly #clock: Clock
  readonly #signed = new SignatureVerifier()

  constructor(deps: { directory: PoolSource; clock: Clock }) {
    this.#directory = deps.directory
    this.#clock = deps.clock
  }

  async verify(
    site: Site,
    kind: PoolKind,
    token: string,
    purpose: TokenPurpose,
  ): Promise<Verified> {
    let pool = (await this.#directory.get(site))[kind]
    const { header, claims } = await this.#signed.verify(token, async (kid) => {
      if (!pool.keys.has(kid)) pool = await this.#directory.reload(site, kind)
      return this.#key(pool, kid)
    })
    const nowSeconds = this.#clock.now().getTime() / 1000
    const refusal = failedClaimCheck({ header, claims, pool, ...purpose, nowSeconds })
    if (refusal !== undefined) throw unauthorized(refusal)
    return { claims, pool, expired: claims.exp <= nowSeconds }
  }

  /**
   * Whom an `id_token_hint` names, and its client. It may have expired: it is the client's expectation and no proof.
   * Undefined for what is no id token of this pool.
   */
  async hinted(
    site: Site,
    pool: Pool,
    hint: string,
  ): Promise<{ readonly sub: string; readonly clientId: string } | undefined> {
    try {
      const { claims } = await this.verify(site, pool.kind, hint, { uses: ['id'], clients: 'any' })
      return { sub: claims.sub, clientId: clientIdOf(claims) }
    } catch (error) {
      if (error instanceof AppError && error.code === 'Unauthorized') return undefined
      throw error
    }
  }

  #key(pool: Pool, kid: string): CryptoKey {
    const published = pool.keys.get(kid)
    if (!published || !isPublished(published, this.#clock.now().getTime()))
      throw unauthorized('kid')
    return published.key
  }
}
