import { clientPublicOf } from '#identity/cognito/srp/exchange.ts'
import { hexOf } from '#identity/cognito/srp/group.ts'
import { passkeyRequestOptions } from '#identity/passkeys/options.ts'
import type { PoolRequest } from '#identity/pool-request.ts'

import { invalidParameter, notConfirmed } from './cognito-error.ts'
import type { CognitoServices } from './cognito-services.ts'
import { type AuthParameters, requiredParameter, usernameParameter } from './operation.ts'
import { passwordAnswer } from './token-answers.ts'

/** What a client begins a sign-in with. */
export interface FirstStep {
  readonly clientId: string
  readonly parameters: AuthParameters
}

export async function byChallenge(
  { srpSignIns }: CognitoServices,
  call: PoolRequest,
  { clientId, parameters }: FirstStep,
): Promise<object> {
  const email = usernameParameter(parameters)
  const clientPublic = clientPublicOf(requiredParameter(parameters, 'SRP_A'))
  if (clientPublic === undefined) throw invalidParameter('SRP_A is not a valid public value')
  const challenge = await srpSignIns.begin({ ...call, clientId }, email, clientPublic)
  return {
    ChallengeName: 'PASSWORD_VERIFIER',
    ChallengeParameters: {
      SALT: challenge.salt.toString('hex'),
      SECRET_BLOCK: challenge.secretBlock.toString('base64'),
      SRP_B: hexOf(challenge.serverPublic),
      USERNAME: email,
      USER_ID_FOR_SRP: email,
    },
  }
}

export async function byPassword(
  parts: CognitoServices,
  call: PoolRequest,
  { clientId, parameters }: FirstStep,
): Promise<object> {
  const email = usernameParameter(parameters)
  const password = requiredParameter(parameters, 'PASSWORD')
  const authTime = parts.clock.now()
  const answer = await parts.passwordSignIns.authenticate(call, { email, password })
  if (answer.kind === 'unconfirmed') throw notConfirmed()
  const { sub } = answer.user
  return passwordAnswer(parts, call, { clientId, sub, method: 'password', authTime })
}

/** What is there for every address, whether it has an account or a passkey: what there is tells strangers nothing. */
const AVAILABLE = ['PASSWORD', 'PASSWORD_SRP', 'WEB_AUTHN']

interface ChosenStep extends FirstStep {
  readonly email: string
  /** `WEB_AUTHN`, …; anything else asks the client to choose. */
  readonly chosen: string
}

/** The first step of the flow `USER_AUTH`. */
export async function startChosen(
  parts: CognitoServices,
  call: PoolRequest,
  { chosen, clientId, email, parameters }: ChosenStep,
): Promise<object> {
  if (chosen === 'PASSWORD') return byPassword(parts, call, { clientId, parameters })
  if (chosen === 'PASSWORD_SRP') return byChallenge(parts, call, { clientId, parameters })
  const { challenge, Session } = parts.passkeyChallenges.seal(call, { clientId, email })
  if (chosen === 'WEB_AUTHN') {
    const options = JSON.stringify(passkeyRequestOptions(call.pool, challenge))
    const ChallengeParameters = { CREDENTIAL_REQUEST_OPTIONS: options }
    return { ChallengeName: 'WEB_AUTHN', ChallengeParameters, Session }
  }
  return {
    ChallengeName: 'SELECT_CHALLENGE',
    AvailableChallenges: AVAILABLE,
    ChallengeParameters: {},
    Session,
  }
}
