import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Site } from '#sites/site.ts'

import type { Grant, TokenSet, UserInfo } from './model.ts'

export interface CodeExchange {
  readonly clientId: string
  readonly code: string
  readonly redirectUri: string
  readonly codeVerifier: string | undefined
  readonly origin: RequestOrigin
}

export interface Refreshing {
  readonly clientId: string
  readonly refreshToken: string
  /** Fewer scopes than were granted, for this access token alone. */
  readonly scope?: string | undefined
  readonly origin: RequestOrigin
}

export interface Revocation {
  readonly clientId: string
  /** A refresh token or an access token. */
  readonly token: string
  readonly origin: RequestOrigin
}

/** Access, id and refresh tokens of sign-ins. Refusals are `OAuthError`s. */
export class TokenSets {
  /** Of a new sign-in, in the transaction that makes it. */
  async issue(_tx: SiteTx, _site: Site, _pool: Pool, _grant: Grant): Promise<TokenSet> {
    throw new Error('Not built yet')
  }

  async exchangeCode(_site: Site, _pool: Pool, _exchange: CodeExchange): Promise<TokenSet> {
    throw new Error('Not built yet')
  }

  /** The refresh token is good once: the answer has the next one. */
  async refresh(_site: Site, _pool: Pool, _refreshing: Refreshing): Promise<TokenSet> {
    throw new Error('Not built yet')
  }

  /** Ends the sign-in that the token comes from. Says nothing about a token that is not one. */
  async revoke(_site: Site, _pool: Pool, _revocation: Revocation): Promise<void> {
    throw new Error('Not built yet')
  }

  /** Of the holder of an access token with the scope `openid`. */
  async userInfo(_site: Site, _pool: Pool, _authorization: string | undefined): Promise<UserInfo> {
    throw new Error('Not built yet')
  }
}
