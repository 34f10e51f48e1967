import { Type } from '@sinclair/typebox'

import { parseClientData } from '#identity/passkeys/client-data.ts'
import { passkeyCreationOptions } from '#identity/passkeys/options.ts'

import { accessTokenClaims, recentSignInClaims } from './client.ts'
import { CognitoError } from './cognito-error.ts'
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
  const claims = await recentSignInClaims(parts, call, input.AccessToken)
  const { sub, username: email, signIn } = claims
  const { site, pool } = call
  const challenge = parts.passkeyChallenges.forNewKey(call, { sub, signIn })
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
    const { sub, signIn } = await recentSignInClaims(parts, call, input.AccessToken)
    const credential = JSON.stringify(input.Credential)
    const challenge = challengeIn(input.Credential)
    if (!parts.passkeyChallenges.isForNewKey(call, { sub, signIn }, challenge)) {
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
  const { sub } = await recentSignInClaims(parts, call, input.AccessToken)
  await parts.passkeys.remove(call, sub, input.CredentialId)
  return {}
})

/** What the device says it has signed; what it has, the library looks at. Empty for what says nothing. */
function challengeIn({ response }: Readonly<Record<string, unknown>>): string {
  if (typeof response !== 'object' || response === null || !('clientDataJSON' in response))
    return ''
  return parseClientData(String(response.clientDataJSON))?.challenge ?? ''
}
