import type { PoolRequest } from '#identity/pool-request.ts'
import { COGNITO_API_SCOPE } from '#identity/pools/scopes.ts'
import type { SecondFactor } from '#identity/second-factors/second-factors.ts'
import type { TokenSet } from '#identity/token-endpoint/model.ts'
import { OAuthError } from '#identity/token-endpoint/oauth-error.ts'

import { notAuthorized, wrongUsernameOrPassword } from './cognito-error.ts'
import type { CognitoServices } from './cognito-services.ts'
import type { MfaSession } from './mfa-sessions.ts'

export interface VerifiedSignIn {
  readonly clientId: string
  readonly sub: string
  readonly method: 'password' | 'srp' | 'passkey'
  /** Taken before the password was checked. */
  readonly authTime: Date
  readonly secondFactor?: SecondFactor | undefined
}

/** What comes after the password: the tokens, or the second step where the account or the pool has one. */
export async function passwordAnswer(
  parts: CognitoServices,
  request: PoolRequest,
  signIn: VerifiedSignIn & Pick<MfaSession, 'method'>,
): Promise<object> {
  const { site, pool } = request
  const { totp } = await parts.secondFactors.state(site, pool, signIn.sub)
  if (!totp && !pool.settings.requireSecondFactor) return signInAnswer(parts, request, signIn)
  const { authTime, ...rest } = signIn
  const session = { ...rest, authTimeMs: authTime.getTime(), isSetUp: false }
  const Session = parts.mfaSessions.seal(request, session)
  return totp
    ? { ChallengeName: 'SOFTWARE_TOKEN_MFA', Session, ChallengeParameters: {} }
    : {
        ChallengeName: 'MFA_SETUP',
        Session,
        ChallengeParameters: { MFAS_CAN_SETUP: '["SOFTWARE_TOKEN_MFA"]' },
      }
}

/** The tokens of a new sign-in without a browser session. */
export async function signInAnswer(
  { tokenEndpoint, events }: CognitoServices,
  request: PoolRequest,
  { clientId, sub, method, authTime, secondFactor }: VerifiedSignIn,
): Promise<object> {
  const { pool, origin } = request
  const grant = { client: { clientId }, sub, scope: COGNITO_API_SCOPE, authTime }
  const event = { event: 'sign-in.succeeded', pool: pool.kind, clientId, origin } as const
  try {
    const tokens = await tokenEndpoint.start(request, grant, (tx, { email }) =>
      events.record(tx, {
        ...event,
        sub,
        email,
        detail: { method, ...(secondFactor !== undefined && { secondFactor }) },
      }),
    )
    return tokenAnswer(tokens)
  } catch (error) {
    // The account was deleted, or signed out everywhere, while the password was being checked.
    throw error instanceof OAuthError ? wrongUsernameOrPassword() : error
  }
}

/** Refresh tokens are valid once: the response contains the next one, which Cognito's clients keep. */
export async function refreshAnswer(
  { tokenEndpoint }: CognitoServices,
  request: PoolRequest,
  grant: { readonly clientId: string; readonly refreshToken: string },
): Promise<object> {
  try {
    return tokenAnswer(await tokenEndpoint.refresh(request, grant))
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
