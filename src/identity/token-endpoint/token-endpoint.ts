import type { PoolRequest } from '#identity/pool-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { SessionAccount } from '#identity/sessions/model.ts'
import { lockAccountForNewSignIn } from '#identity/sessions/session-accounts.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import { type CodeGrant, exchangeCode } from './code-exchange.ts'
import type { SignInGrant, TokenSet, UserInfo } from './model.ts'
import { type GrantResult, granted, denied, requireGranted } from './oauth-error.ts'
import { requireVerifierShape } from './pkce.ts'
import { type RefreshGrant, exchangeRefreshToken } from './refresh-exchange.ts'
import { RefreshResponses } from './refresh-responses.ts'
import type { GrantDeps, TokenEndpointDeps } from './token-endpoint-deps.ts'
import { type IssuedTokenSet, TokenIssuer } from './token-issuer.ts'
import { type RevocationRequest, endSignInOf } from './token-revocation.ts'
import { userInfoOf } from './user-infos.ts'

/** Access, id and refresh tokens of sign-ins. Refusals are `OAuthError`s. */
export class TokenEndpoint {
  readonly #deps: GrantDeps

  constructor(deps: TokenEndpointDeps) {
    this.#deps = {
      ...deps,
      issuer: new TokenIssuer(deps),
      refreshResponses: new RefreshResponses(deps),
    }
  }

  /** Issues the tokens of a new sign-in. `record` writes what belongs to it, in the transaction that makes it. */
  start(
    { site, pool, origin }: PoolRequest,
    grant: SignInGrant,
    record: (tx: SiteTx, account: SessionAccount) => Promise<void>,
  ): Promise<TokenSet> {
    return this.#answer(site, pool, async (tx) => {
      const account = await lockAccountForNewSignIn(tx, pool, grant)
      if (!account) return denied('invalid_grant', 'The user has been signed out')
      const familyId = this.#deps.families.newId()
      const { client, sub, scope, authTime, nonce, sessionId = null } = grant
      const start = { sub, sessionId, scope, authTime, origin, clientId: client.clientId }
      await this.#deps.families.start(tx, pool, { familyId, userPoolId: pool.userPoolId, ...start })
      await record(tx, account)
      const issue = { familyId, clientId: client.clientId, account, authTime, scope, nonce }
      return granted(await this.#deps.issuer.issue(tx, issue))
    })
  }

  exchangeCode(request: PoolRequest, grant: CodeGrant): Promise<TokenSet> {
    requireVerifierShape(grant.codeVerifier)
    const { site, pool } = request
    return this.#answer(site, pool, (tx) => exchangeCode(this.#deps, tx, request, grant))
  }

  /**
   * A refresh token is valid once, or again within 10 seconds for the same response, which contains the next one. The tokens
   * are signed in the transaction: when the response is lost, they are there to be asked for again.
   */
  async refresh(request: PoolRequest, grant: RefreshGrant): Promise<TokenSet> {
    const { site, pool } = request
    await this.#deps.issuer.prepare(site, pool)
    const result = await this.#deps.database.withSite(site.siteId, (tx) =>
      exchangeRefreshToken(this.#deps, tx, request, grant),
    )
    return requireGranted(result)
  }

  /** Ends the sign-in of the token. Does nothing for an unknown token. */
  revoke(request: PoolRequest, revocation: RevocationRequest): Promise<void> {
    return endSignInOf(this.#deps, request, revocation)
  }

  /** Describes the user whose access token, with the scope `openid`, is given. */
  userInfo(site: Site, pool: Pool, authorization: string | undefined): Promise<UserInfo> {
    return userInfoOf(this.#deps, site, pool, authorization)
  }

  async #answer(
    site: Site,
    pool: Pool,
    grant: (tx: SiteTx) => Promise<GrantResult<IssuedTokenSet>>,
  ): Promise<TokenSet> {
    await this.#deps.issuer.prepare(site, pool)
    const issued = requireGranted(await this.#deps.database.withSite(site.siteId, grant))
    return this.#deps.issuer.sign(site, pool, issued)
  }
}
