import type { Client } from '#identity/pools/client.ts'

/** What a sign-in of a client is given, and what its tokens say. */
export interface SignInGrant {
  readonly client: Pick<Client, 'clientId'>
  readonly sub: string
  /** Space-separated. An id token comes with `openid` or `aws.cognito.signin.user.admin`. */
  readonly scope: string
  /** Taken before the proof was checked: a sign-out everywhere in between then counts. */
  readonly authTime: Date
  readonly nonce?: string | undefined
  /** The browser's session; left out for a sign-in without a browser. */
  readonly sessionId?: string | undefined
}

export interface TokenSet {
  readonly accessToken: string
  readonly idToken: string | undefined
  readonly refreshToken: string
  readonly expiresInSeconds: number
  readonly scope: string
  readonly familyId: string
}

/** OpenID Connect Core section 5.3.2, with Cognito's `username`. */
export interface UserInfo {
  readonly sub: string
  readonly username?: string
  readonly name?: string
  readonly email?: string
  readonly email_verified?: boolean
}
