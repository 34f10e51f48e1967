import { hashSecret } from '#identity/hash-secret.ts'
import { TOKEN_LIFETIME_SECONDS } from '#identity/keys/model.ts'
import type { Pool } from '#identity/pools/model.ts'
import { givesIdToken } from '#identity/pools/scopes.ts'
import type { SessionAccount } from '#identity/sessions/model.ts'
import { tokenSubjectOf } from '#identity/sessions/session-accounts.ts'
import { secondToIssue } from '#identity/users/issue-second.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import type { TokenSet } from './model.ts'
import { insertRefreshToken } from './queries.ts'
import type { TokenEndpointDeps } from './token-endpoint-deps.ts'

/** The content of the tokens of one response, decided inside the transaction and signed after it. */
export interface TokenSetContent {
  readonly familyId: string
  readonly clientId: string
  readonly account: SessionAccount
  readonly authTime: Date
  /** The scope of this answer's access token. */
  readonly scope: string
  readonly nonce?: string | undefined
}

export type IssuedTokenSet = TokenSetContent & { readonly refreshToken: string }

/** Makes the tokens of an answer: the refresh token in the transaction, the signed ones outside. */
export class TokenIssuer {
  readonly #deps: TokenEndpointDeps

  constructor(deps: TokenEndpointDeps) {
    this.#deps = deps
  }

  /** Before the transaction: once a code or refresh token is used up, its answer must not fail. */
  prepare(site: Site, pool: Pool): Promise<void> {
    return this.#deps.signer.prepare(site, pool)
  }

  async issue(tx: SiteTx, issue: TokenSetContent): Promise<IssuedTokenSet> {
    const refreshToken = this.#deps.ids.secret()
    await insertRefreshToken(tx, {
      tokenHash: hashSecret(refreshToken),
      familyId: issue.familyId,
      createdAt: this.#deps.clock.now(),
    })
    return { ...issue, refreshToken }
  }

  async sign(site: Site, pool: Pool, issued: IssuedTokenSet): Promise<TokenSet> {
    const { familyId, clientId, account, scope, nonce } = issued
    const ofClient: Pool = { ...pool, clientId }
    const about = {
      subject: tokenSubjectOf(account),
      times: {
        issuedAtSeconds: await secondToIssue(this.#deps.clock, account.tokensValidAfter),
        authTimeSeconds: Math.floor(issued.authTime.getTime() / 1000),
      },
      signIn: { familyId, scope, nonce },
    }
    const access = await this.#deps.signer.sign(site, ofClient, 'access', about)
    const id = givesIdToken(scope)
      ? await this.#deps.signer.sign(site, ofClient, 'id', about)
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
