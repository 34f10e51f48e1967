import { Type } from '@sinclair/typebox'

import { parseClientData } from '#identity/passkeys/client-data.ts'
import { passkeyCreationOptions } from '#identity/passkeys/options.ts'

import { accessTokenClaims, signInOf, signedInOf } from './client.ts'
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

/** What a device makes a key of the account with. */
export const startWebAuthnRegistration = cognitoOperation(Start, async (parts, call, input) => {
  const claims = await accessTokenClaims(parts, call, input.AccessToken)
  await parts.signInProofs.requireUnused(call, signedInOf(claims))
  const { sub, username: email } = claims
  const signIn = signInOf(claims)
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
    const claims = await accessTokenClaims(parts, call, input.AccessToken)
    const { sub } = claims
    const signIn = signInOf(claims)
    const credential = JSON.stringify(input.Credential)
    const challenge = challengeIn(input.Credential)
    if (!parts.passkeyChallenges.isForNewKey(call, { sub, signIn }, challenge)) {
      throw new CognitoError(
        'WebAuthnChallengeNotFoundException',
        'The challenge has expired, or is of another sign-in: start again',
      )
    }
    await parts.signInProofs.use(call, signedInOf(claims), () =>
      parts.passkeys.add(call, sub, { credential, challenge, name: '' }),
    )
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
  const claims = await accessTokenClaims(parts, call, input.AccessToken)
  // It adds no way to sign in, so it leaves the sign-in for another change.
  await parts.signInProofs.requireFresh(call, signedInOf(claims))
  await parts.passkeys.remove(call, claims.sub, input.CredentialId)
  return {}
})

/** What the device says it has signed; what it has, the library looks at. Empty for what says nothing. */
function challengeIn({ response }: Readonly<Record<string, unknown>>): string {
  if (typeof response !== 'object' || response === null || !('clientDataJSON' in response))
    return ''
  return parseClientData(String(response.clientDataJSON))?.challenge ?? ''
}
