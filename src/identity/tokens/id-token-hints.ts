import { AppError } from '#base/app-error.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

import type { TokenVerifier } from './token-verifier.ts'

/** Reads `id_token_hint`. It may have expired, because it is the client's expectation and no proof. */
export class IdTokenHints {
  readonly #verifier: TokenVerifier

  constructor(deps: { verifier: TokenVerifier }) {
    this.#verifier = deps.verifier
  }

  /** The `sub`; undefined for what is no id token of ours for this pool's client. */
  async subOf(site: Site, pool: Pool, hint: string): Promise<string | undefined> {
    try {
      const { claims } = await this.#verifier.verify(site, pool.kind, hint, ['id'])
      return claims.sub
    } catch (error) {
      if (error instanceof AppError && error.code === 'Unauthorized') return undefined
      throw error
    }
  }
}
