import type { PoolRequest } from '#identity/pool-request.ts'
import { COGNITO_API_SCOPE } from '#identity/pools/scopes.ts'
import type { TokenSet } from '#identity/token-sets/model.ts'
import { OAuthError } from '#identity/token-sets/oauth-error.ts'

import { notAuthorized, wrongUsernameOrPassword } from './cognito-error.ts'
import type { CognitoServices } from './cognito-services.ts'

export interface VerifiedSignIn {
  readonly clientId: string
  readonly sub: string
  readonly method: 'password' | 'srp'
  /** Taken before the password was checked. */
  readonly authTime: Date
}

/** The tokens of a new sign-in without a browser session. */
export async function signInAnswer(
  { tokenSets, events }: CognitoServices,
  request: PoolRequest,
  { clientId, sub, method, authTime }: VerifiedSignIn,
): Promise<object> {
  const { pool, origin } = request
  const grant = { client: { clientId }, sub, scope: COGNITO_API_SCOPE, authTime }
  const event = { event: 'sign-in.succeeded', pool: pool.kind, clientId, origin } as const
  try {
    const tokens = await tokenSets.start(request, grant, (tx, { email }) =>
      events.record(tx, { ...event, sub, email, detail: { method } }),
    )
    return tokenAnswer(tokens)
  } catch (error) {
    // The account was deleted, or signed out everywhere, while the password was being checked.
    throw error instanceof OAuthError ? wrongUsernameOrPassword() : error
  }
}

/** Refresh tokens are valid once: the response contains the next one, which Cognito's clients keep. */
export async function refreshAnswer(
  { tokenSets }: CognitoServices,
  request: PoolRequest,
  grant: { readonly clientId: string; readonly refreshToken: string },
): Promise<object> {
  try {
    return tokenAnswer(await tokenSets.refresh(request, grant))
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
