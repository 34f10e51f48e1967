import { type Static, Type } from '@sinclair/typebox'

import type { PoolRequest } from '#identity/pool-request.ts'
import type { ProvingSignIn } from '#identity/proofs/sign-in-proofs.ts'

import { accessTokenClaims, signInOf, signedInOf } from './client.ts'
import { CognitoError, invalidParameter, notAuthorized } from './cognito-error.ts'
import type { CognitoServices } from './cognito-services.ts'
import type { MfaSession } from './mfa-sessions.ts'
import { CodeField, TokenField, cognitoOperation } from './operation.ts'

const MaybeText = (maxLength: number) =>
  Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()]))

/** A user who is signed in, or is signing in. */
const Setup = {
  AccessToken: Type.Optional(Type.Union([TokenField, Type.Null()])),
  Session: MaybeText(2048),
}

const Associate = Type.Object(Setup)
const Verify = Type.Object({ ...Setup, UserCode: CodeField, FriendlyDeviceName: MaybeText(256) })

const Settings = Type.Optional(
  Type.Union([
    Type.Object({
      Enabled: Type.Optional(Type.Boolean()),
      PreferredMfa: Type.Optional(Type.Boolean()),
    }),
    Type.Null(),
  ]),
)
const Preference = Type.Object({ AccessToken: TokenField, SoftwareTokenMfaSettings: Settings })

/** Whose app is set up, and the sign-in that allows it. */
interface SetupOwner {
  readonly sub: string
  readonly signIn: string
  /** What proves it; undefined where the password was given in this very flow. */
  readonly signedIn: ProvingSignIn | undefined
  readonly session: MfaSession | undefined
}

/** The secret of an app that is to be set up. */
export const associateSoftwareToken = cognitoOperation(Associate, async (parts, call, input) => {
  const owner = await setupOwner(parts, call, input)
  if (owner.signedIn) await parts.signInProofs.requireUnused(call, owner.signedIn)
  if ((await parts.secondFactors.state(call.site, call.pool, owner.sub)).totp) {
    throw invalidParameter('The account has a software token: turn it off first')
  }
  const [SecretCode] = parts.mfaSessions.setupSecrets(call, owner)
  return { SecretCode, ...sessionOf(parts, call, owner.session) }
})

/** The first code of the app: from now on signing in asks for one. */
export const verifySoftwareToken = cognitoOperation(Verify, async (parts, call, input) => {
  const owner = await setupOwner(parts, call, input)
  const { sub, session } = owner
  const code = input.UserCode
  const [newest = '', older = ''] = parts.mfaSessions.setupSecrets(call, owner)
  const set = (secret: string) => parts.secondFactors.enable(call, { sub, secret, code })
  const setEither = () =>
    set(newest)
      .catch((error: unknown) => (isWrongCode(error) ? set(older) : Promise.reject(error)))
      .catch((error: unknown) => {
        throw isWrongCode(error)
          ? new CognitoError('EnableSoftwareTokenMFAException', 'Code mismatch')
          : error
      })
  await (owner.signedIn ? parts.signInProofs.use(call, owner.signedIn, setEither) : setEither())
  return { Status: 'SUCCESS', ...sessionOf(parts, call, session && { ...session, isSetUp: true }) }
})

/** Takes the app off; one that is set up is asked for in any case. */
export const setUserMfaPreference = cognitoOperation(Preference, async (parts, call, input) => {
  const claims = await accessTokenClaims(parts, call, input.AccessToken)
  const { sub } = claims
  const { site, pool, origin } = call
  const { totp } = await parts.secondFactors.state(site, pool, sub)
  const wanted = input.SoftwareTokenMfaSettings?.Enabled
  if (wanted === true && !totp) {
    throw invalidParameter('User does not have delivery config set to turn on SOFTWARE_TOKEN_MFA')
  }
  if (wanted === false && totp) {
    if (pool.settings.requireSecondFactor) throw invalidParameter('MFA is required for this pool')
    await parts.signInProofs.use(call, signedInOf(claims), () =>
      parts.secondFactors.disable(site, pool, sub, { type: 'owner', origin }),
    )
  }
  return {}
})

const isWrongCode = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'InvalidVerificationCode'

async function setupOwner(
  parts: CognitoServices,
  call: PoolRequest,
  { AccessToken, Session }: Static<typeof Associate>,
): Promise<SetupOwner> {
  if (typeof AccessToken === 'string') {
    const claims = await accessTokenClaims(parts, call, AccessToken)
    const { sub } = claims
    return { sub, signIn: signInOf(claims), signedIn: signedInOf(claims), session: undefined }
  }
  const session = parts.mfaSessions.open(call, Session ?? '')
  if (!session) throw notAuthorized('Invalid session for the user, session is expired.')
  const { sub, authTimeMs } = session
  return { sub, signIn: String(authTimeMs), signedIn: undefined, session }
}

const sessionOf = (
  parts: CognitoServices,
  call: PoolRequest,
  session: MfaSession | undefined,
): { readonly Session?: string } =>
  session ? { Session: parts.mfaSessions.seal(call, session) } : {}
