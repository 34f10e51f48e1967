import type { TokenSet } from '#identity/token-sets/model.ts'
import { OAuthError } from '#identity/token-sets/oauth-error.ts'
import { COGNITO_API_SCOPE } from '#identity/token-sets/scopes.ts'

import { notAuthorized, wrongCredentials } from './cognito-error.ts'
import type { Call, CognitoParts } from './parts.ts'

export interface Proof {
  readonly clientId: string
  readonly sub: string
  readonly method: 'password' | 'srp'
  /** Taken before the password was checked. */
  readonly authTime: Date
}

/** The tokens of a new sign-in, which no browser session stands behind. */
export async function signedIn(
  { tokenSets, events }: CognitoParts,
  { site, pool, origin }: Call,
  { clientId, sub, method, authTime }: Proof,
): Promise<object> {
  const grant = { client: { clientId }, sub, scope: COGNITO_API_SCOPE, authTime, origin }
  const event = { event: 'sign-in.succeeded', pool: pool.kind, clientId, origin } as const
  try {
    const tokens = await tokenSets.start(site, pool, grant, (tx, { email }) =>
      events.record(tx, { ...event, sub, email, detail: { method } }),
    )
    return tokenAnswer(tokens)
  } catch (error) {
    // The account went, or was signed out everywhere, while the password was being checked.
    throw error instanceof OAuthError ? wrongCredentials() : error
  }
}

/** Refresh tokens are good once: the next one comes along, and Cognito's clients keep it. */
export async function refreshed(
  { tokenSets }: CognitoParts,
  { site, pool, origin }: Call,
  grant: { readonly clientId: string; readonly refreshToken: string },
): Promise<object> {
  try {
    return tokenAnswer(await tokenSets.refresh(site, pool, { ...grant, origin }))
  } catch (error) {
    throw error instanceof OAuthError ? notAuthorized('Invalid Refresh Token') : error
  }
}

const tokenAnswer = ({ accessToken, idToken, refreshToken, expiresInSeconds }: TokenSet) => ({
  AuthenticationResult: {
    AccessToken: accessToken,
    ExpiresIn: expiresInSeconds,
    IdToken: idToken,
    RefreshToken: refreshToken,
    TokenType: 'Bearer',
  },
  ChallengeParameters: {},
})
