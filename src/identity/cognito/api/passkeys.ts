import { Type } from '@sinclair/typebox'

import { isSameText } from '#base/same-text.ts'
import { passkeyCreationOptions } from '#identity/passkeys/options.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import { requireRecentSignIn } from '#identity/recent-sign-in.ts'
import type { TokenClaims } from '#identity/tokens/claims.ts'

import { accessTokenClaims } from './client.ts'
import { CognitoError } from './cognito-error.ts'
import type { CognitoServices } from './cognito-services.ts'
import { TokenField, cognitoOperation } from './operation.ts'

const MAX_CREDENTIAL_ID = 1400

const Start = Type.Object({ AccessToken: TokenField })
const Complete = Type.Object({
  AccessToken: TokenField,
  Credential: Type.Record(Type.String(), Type.Unknown(), { maxProperties: 16 }),
})
const Delete = Type.Object({
  AccessToken: TokenField,
  CredentialId: Type.String({ maxLength: MAX_CREDENTIAL_ID }),
})

/** What a device makes a key of the account with. Takes a sign-in of the last 15 minutes, as the account's page does. */
export const startWebAuthnRegistration = cognitoOperation(Start, async (parts, call, input) => {
  const { sub, email, signIn } = await owner(parts, call, input)
  const { site, pool } = call
  const [challenge = ''] = parts.passkeyChallenges.forNewKey(call, { sub, signIn })
  const known = await parts.passkeys.list(site, pool, sub)
  const CredentialCreationOptions = passkeyCreationOptions(
    call,
    { sub, email },
    { known, challenge },
  )
  return { CredentialCreationOptions }
})

/** The key that it has made. */
export const completeWebAuthnRegistration = cognitoOperation(
  Complete,
  async (parts, call, input) => {
    const { sub, signIn } = await owner(parts, call, input)
    const credential = JSON.stringify(input.Credential)
    const challenge = challengeIn(input.Credential)
    const challenges = parts.passkeyChallenges.forNewKey(call, { sub, signIn })
    if (!challenges.some((each) => isSameText(each, challenge))) {
      throw new CognitoError(
        'WebAuthnChallengeNotFoundException',
        'The challenge has expired, or is of another sign-in: start anew',
      )
    }
    await parts.passkeys.add(call, sub, { credential, challenge, name: '' })
    return {}
  },
)

export const listWebAuthnCredentials = cognitoOperation(Start, async (parts, call, input) => {
  const { sub } = await accessTokenClaims(parts, call, input.AccessToken)
  const { site, pool } = call
  const passkeys = await parts.passkeys.list(site, pool, sub)
  return {
    Credentials: passkeys.map(({ credentialId, name, createdAt }) => ({
      CredentialId: credentialId,
      FriendlyCredentialName: name,
      RelyingPartyId: pool.relyingPartyId,
      AuthenticatorTransports: [],
      CreatedAt: createdAt.getTime() / 1000,
    })),
  }
})

export const deleteWebAuthnCredential = cognitoOperation(Delete, async (parts, call, input) => {
  const { sub } = await owner(parts, call, input)
  await parts.passkeys.remove(call, sub, input.CredentialId)
  return {}
})

/** Who has signed in recently: 400 `NotAuthorizedException` for others. */
async function owner(
  parts: CognitoServices,
  call: PoolRequest,
  { AccessToken }: { readonly AccessToken: string },
): Promise<{ readonly sub: string; readonly email: string; readonly signIn: string }> {
  const claims = await accessTokenClaims(parts, call, AccessToken)
  requireRecentSignIn({ authTime: new Date(claims.auth_time * 1000) }, parts.clock.now())
  return { sub: claims.sub, email: claims.username, signIn: signInOf(claims) }
}

const signInOf = ({ origin_jti, jti }: TokenClaims): string => origin_jti ?? jti

/** What the device says it has signed; what it has, the library looks at. Empty for what says nothing. */
function challengeIn({ response }: Readonly<Record<string, unknown>>): string {
  if (typeof response !== 'object' || response === null || !('clientDataJSON' in response))
    return ''
  try {
    const json = Buffer.from(String(response.clientDataJSON), 'base64url').toString()
    const data: unknown = JSON.parse(json)
    return typeof data === 'object' && data !== null && 'challenge' in data
      ? String(data.challenge)
      : ''
  } catch {
    return ''
  }
}
