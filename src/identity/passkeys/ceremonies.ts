import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Pool } from '#identity/pools/model.ts'

import { isFramed, parseClientData } from './client-data.ts'

const MAX_CREDENTIAL_BYTES = 16 * 1024

const Base64Url = (maxLength: number) => Type.String({ maxLength, pattern: '^[\\w-]+$' })

const Credential = {
  id: Base64Url(1400),
  rawId: Base64Url(1400),
  type: Type.Literal('public-key'),
  clientExtensionResults: Type.Object({}),
}

/** What scripts of browsers send; the library looks at what is in it. */
const Assertion = Type.Object({
  ...Credential,
  response: Type.Object({
    clientDataJSON: Base64Url(MAX_CREDENTIAL_BYTES),
    authenticatorData: Base64Url(MAX_CREDENTIAL_BYTES),
    signature: Base64Url(MAX_CREDENTIAL_BYTES),
    userHandle: Type.Optional(Type.Union([Base64Url(200), Type.Null()])),
  }),
})
type Assertion = Static<typeof Assertion>

const Attestation = Type.Object({
  ...Credential,
  response: Type.Object({
    clientDataJSON: Base64Url(MAX_CREDENTIAL_BYTES),
    attestationObject: Base64Url(MAX_CREDENTIAL_BYTES),
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 8 })),
  }),
})
type Attestation = Static<typeof Attestation>

/** What a device has shown to hold. */
export interface ProvenKey {
  readonly credentialId: string
  readonly publicKey: Buffer
  readonly signCount: number
  readonly transports: readonly string[]
}

/** Who may ask for a pool's passkeys: a page of another origin cannot use them, though browsers would let it. */
type Party = Pick<Pool, 'passkeyOrigins' | 'relyingPartyId'>

const partyOf = ({ passkeyOrigins, relyingPartyId }: Party) => ({
  expectedOrigin: [...passkeyOrigins],
  expectedRPID: relyingPartyId,
  requireUserVerification: true,
})

/** The library, loaded at its first use. */
const library = () => import('@simplewebauthn/server')

export const parseAssertion = (text: string): Assertion | undefined => parsed(Assertion, text)
export const parseAttestation = (text: string): Attestation | undefined => parsed(Attestation, text)

/** Undefined when the device does not prove to hold the key, or its owner not to have touched it. */
export async function provenUse(
  pool: Party,
  assertion: Assertion,
  key: Omit<ProvenKey, 'transports'> & { readonly challenge: string },
): Promise<{ readonly signCount: number } | undefined> {
  const { verifyAuthenticationResponse } = await library()
  const { id, publicKey, counter } = {
    id: key.credentialId,
    publicKey: new Uint8Array(key.publicKey),
    counter: key.signCount,
  }
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...partyOf(pool),
      response: assertion as unknown as AuthenticationResponseJSON,
      expectedChallenge: key.challenge,
      credential: { id, publicKey, counter },
    })
    return verified ? { signCount: authenticationInfo.newCounter } : undefined
  } catch {
    // The library throws for everything that is not as it must be.
    return undefined
  }
}

/** Undefined when the device has not made a key for this challenge. */
export async function provenKey(
  pool: Party,
  attestation: Attestation,
  challenge: string,
): Promise<ProvenKey | undefined> {
  const { verifyRegistrationResponse } = await library()
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      ...partyOf(pool),
      response: attestation as unknown as RegistrationResponseJSON,
      expectedChallenge: challenge,
    })
    if (!verified || !registrationInfo) return undefined
    const { credential } = registrationInfo
    return {
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey),
      signCount: credential.counter,
      transports: credential.transports ?? [],
    }
  } catch {
    return undefined
  }
}

/** The library does not look at it. */
function isOfWholePage({ response }: Assertion | Attestation): boolean {
  const said = parseClientData(response.clientDataJSON)
  return said !== undefined && !isFramed(said)
}

function parsed<Schema extends typeof Assertion | typeof Attestation>(
  schema: Schema,
  text: string,
): Static<Schema> | undefined {
  if (text.length > 4 * MAX_CREDENTIAL_BYTES) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return Value.Check(schema, value) && isOfWholePage(value) ? value : undefined
  } catch {
    return undefined
  }
}
