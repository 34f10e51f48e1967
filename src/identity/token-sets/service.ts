import type { Pool } from '#identity/pools/model.ts'
import type { TokenFamilies } from '#identity/sessions/families.ts'
import type { SessionAccount } from '#identity/sessions/model.ts'
import { lockAccountForNewSignIn } from '#identity/sessions/session-accounts.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import type { CodeExchange, CodeGrant } from './code-exchange.ts'
import type { SignInGrant, TokenSet, UserInfo } from './model.ts'
import { type GrantResult, granted, denied, requireGranted } from './oauth-error.ts'
import { requireVerifierShape } from './pkce.ts'
import type { RefreshGrant, RefreshExchange } from './refresh-exchange.ts'
import type { IssuedTokenSet, TokenIssuer } from './token-issuer.ts'
import type { RevocationRequest, TokenRevocation } from './token-revocation.ts'
import type { UserInfos } from './user-infos.ts'

interface TokenSetsDeps {
  readonly database: Database
  readonly families: TokenFamilies
  readonly issuer: TokenIssuer
  readonly exchange: CodeExchange
  readonly refreshing: RefreshExchange
  readonly revoking: TokenRevocation
  readonly userInfos: UserInfos
}

/** Access, id and refresh tokens of sign-ins. Refusals are `OAuthError`s. */
export class TokenSets {
  readonly #deps: TokenSetsDeps

  constructor(deps: TokenSetsDeps) {
    this.#deps = deps
  }

  /** Issues the tokens of a new sign-in. `record` writes what belongs to it, in the transaction that makes it. */
  start(
    site: Site,
    pool: Pool,
    grant: SignInGrant,
    record: (tx: SiteTx, holder: SessionAccount) => Promise<void>,
  ): Promise<TokenSet> {
    return this.#answer(site, pool, async (tx) => {
      const holder = await lockAccountForNewSignIn(tx, pool, grant)
      if (!holder) return denied('invalid_grant', 'The user has been signed out')
      const familyId = this.#deps.families.newId()
      const { client, sub, scope, authTime, nonce, sessionId = null, origin } = grant
      const start = { sub, sessionId, scope, authTime, origin, clientId: client.clientId }
      await this.#deps.families.start(tx, pool, { familyId, ...start })
      await record(tx, holder)
      const issue = { familyId, clientId: client.clientId, holder, authTime, scope, nonce }
      return granted(await this.#deps.issuer.issue(tx, issue))
    })
  }

  exchangeCode(site: Site, pool: Pool, grant: CodeGrant): Promise<TokenSet> {
    requireVerifierShape(grant.codeVerifier)
    return this.#answer(site, pool, (tx) => this.#deps.exchange.run(tx, pool, grant))
  }

  /** The refresh token is good once: the answer has the next one. */
  refresh(site: Site, pool: Pool, grant: RefreshGrant): Promise<TokenSet> {
    return this.#answer(site, pool, (tx) => this.#deps.refreshing.run(tx, pool, grant))
  }

  /** Ends the sign-in that the token comes from. Says nothing about a token that is not one. */
  revoke(site: Site, pool: Pool, revocation: RevocationRequest): Promise<void> {
    return this.#deps.revoking.run(site, pool, revocation)
  }

  /** Describes the user whose access token, with the scope `openid`, is given. */
  userInfo(site: Site, pool: Pool, authorization: string | undefined): Promise<UserInfo> {
    return this.#deps.userInfos.of(site, pool, authorization)
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
