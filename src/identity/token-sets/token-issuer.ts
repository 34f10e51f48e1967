import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import { hashSecret } from '#identity/hash-secret.ts'
import { TOKEN_LIFETIME_SECONDS } from '#identity/keys/model.ts'
import type { Pool } from '#identity/pools/model.ts'
import { givesIdToken } from '#identity/pools/scopes.ts'
import type { SessionAccount } from '#identity/sessions/model.ts'
import { tokenSubjectOf } from '#identity/sessions/session-accounts.ts'
import type { TokenSigner } from '#identity/tokens/token-signer.ts'
import { issueSecond } from '#identity/users/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import type { TokenSet } from './model.ts'
import { insertRefreshToken } from './queries.ts'

/** All that the tokens of one answer say, decided inside the transaction and signed after it. */
export interface TokenSetContent {
  readonly familyId: string
  readonly clientId: string
  readonly holder: SessionAccount
  readonly authTime: Date
  /** The scope of this answer's access token. */
  readonly scope: string
  readonly nonce?: string | undefined
}

export type IssuedTokenSet = TokenSetContent & { readonly refreshToken: string }

/** Makes the tokens of an answer: the refresh token in the transaction, the signed ones outside. */
export class TokenIssuer {
  readonly #signer: TokenSigner
  readonly #clock: Clock
  readonly #ids: Ids

  constructor(deps: { signer: TokenSigner; clock: Clock; ids: Ids }) {
    this.#signer = deps.signer
    this.#clock = deps.clock
    this.#ids = deps.ids
  }

  /** Before the transaction: once a code or refresh token is used up, its answer must not fail. */
  prepare(site: Site, pool: Pool): Promise<void> {
    return this.#signer.prepare(site, pool)
  }

  async issue(tx: SiteTx, issue: TokenSetContent): Promise<IssuedTokenSet> {
    const refreshToken = this.#ids.secret()
    await insertRefreshToken(tx, {
      tokenHash: hashSecret(refreshToken),
      familyId: issue.familyId,
      createdAt: this.#clock.now(),
    })
    return { ...issue, refreshToken }
  }

  async sign(site: Site, pool: Pool, issued: IssuedTokenSet): Promise<TokenSet> {
    const { familyId, clientId, holder, scope, nonce } = issued
    const ofClient: Pool = { ...pool, clientId }
    const about = {
      subject: tokenSubjectOf(holder),
      times: {
        issuedAtSeconds: issueSecond(this.#clock.now(), holder.tokensValidAfter),
        authTimeSeconds: Math.floor(issued.authTime.getTime() / 1000),
      },
      signIn: { familyId, scope, nonce },
    }
    const access = await this.#signer.sign(site, ofClient, 'access', about)
    const id = givesIdToken(scope)
      ? await this.#signer.sign(site, ofClient, 'id', about)
      : undefined
    return {
      accessToken: access.token,
      idToken: id?.token,
      refreshToken: issued.refreshToken,
      expiresInSeconds: TOKEN_LIFETIME_SECONDS,
      scope,
      familyId,
    }
  }
}
