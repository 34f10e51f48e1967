import { Type } from '@sinclair/typebox'

import type { PoolRequest } from '#identity/pool-request.ts'

import { requireCognitoClient } from './client.ts'
import { invalidParameter, notAuthorized, wrongUsernameOrPassword } from './cognito-error.ts'
import type { CognitoServices } from './cognito-services.ts'
import { startChosen } from './first-steps.ts'
import type { MfaSession } from './mfa-sessions.ts'
import {
  AuthParameters,
  ClientFields,
  cognitoOperation,
  requiredParameter,
  usernameParameter,
} from './operation.ts'
import { passwordAnswer, signInAnswer } from './token-answers.ts'

const RespondToAuthChallenge = Type.Object({
  ClientId: ClientFields.ClientId,
  ChallengeName: Type.String({ maxLength: 64 }),
  ChallengeResponses: Type.Optional(AuthParameters),
  Session: Type.Optional(Type.Union([Type.String({ maxLength: 2048 }), Type.Null()])),
})

/** The answer of one client to a challenge. */
interface ChallengeAnswer {
  readonly clientId: string
  readonly responses: AuthParameters
  readonly session: string
}

type Answerer = (
  parts: CognitoServices,
  call: PoolRequest,
  answer: ChallengeAnswer,
) => Promise<object>

const CHALLENGES: ReadonlyMap<string, Answerer> = new Map([
  ['PASSWORD_VERIFIER', byProof],
  ['SOFTWARE_TOKEN_MFA', byCode],
  ['MFA_SETUP', bySetup],
  ['SELECT_CHALLENGE', byChoice],
  ['WEB_AUTHN', byPasskey],
])

export const respondToAuthChallenge = cognitoOperation(
  RespondToAuthChallenge,
  async (parts, call, input) => {
    const { ClientId, ChallengeName, ChallengeResponses: responses = {} } = input
    const SecretHash = responses['SECRET_HASH'] ?? null
    const { clientId } = requireCognitoClient(call.pool, { ClientId, SecretHash })
    const answer = CHALLENGES.get(ChallengeName)
    if (!answer) throw invalidParameter(`${ChallengeName} is not a challenge of this client`)
    return answer(parts, call, { clientId, responses, session: input.Session ?? '' })
  },
)

/** Proves the password without sending it. */
async function byProof(
  parts: CognitoServices,
  call: PoolRequest,
  { clientId, responses }: ChallengeAnswer,
): Promise<object> {
  const answer = {
    email: usernameParameter(responses),
    secretBlock: Buffer.from(requiredParameter(responses, 'PASSWORD_CLAIM_SECRET_BLOCK'), 'base64'),
    timestamp: requiredParameter(responses, 'TIMESTAMP'),
    signature: requiredParameter(responses, 'PASSWORD_CLAIM_SIGNATURE'),
  }
  const authTime = parts.clock.now()
  const { sub } = await parts.srpSignIns.finish({ ...call, clientId }, answer)
  return passwordAnswer(parts, call, { clientId, sub, method: 'srp', authTime })
}

/** The code of the app, or a recovery code. */
async function byCode(
  parts: CognitoServices,
  call: PoolRequest,
  answer: ChallengeAnswer,
): Promise<object> {
  const session = openSession(parts.mfaSessions, call, answer)
  const code = requiredParameter(answer.responses, 'SOFTWARE_TOKEN_MFA_CODE')
  const secondFactor = await parts.secondFactors.verify(call, { sub: session.sub, code })
  return signInAnswer(parts, call, { ...signInOf(session), secondFactor })
}

/** The app that the pool asks for has been set up. */
async function bySetup(
  parts: CognitoServices,
  call: PoolRequest,
  answer: ChallengeAnswer,
): Promise<object> {
  const session = openSession(parts.mfaSessions, call, answer)
  if (!session.isSetUp) throw invalidParameter('The software token has not been verified yet')
  return signInAnswer(parts, call, { ...signInOf(session), secondFactor: 'totp' })
}

/** What the client has chosen of what there is. */
function byChoice(
  parts: CognitoServices,
  call: PoolRequest,
  answer: ChallengeAnswer,
): Promise<object> {
  const { clientId, email } = openSession(parts.passkeyChallenges, call, answer)
  const parameters = answer.responses
  const chosen = requiredParameter(parameters, 'ANSWER')
  return startChosen(parts, call, { clientId, email, parameters, chosen })
}

/** What the device has signed: with its owner's touch that is all that signing in takes. */
async function byPasskey(
  parts: CognitoServices,
  call: PoolRequest,
  answer: ChallengeAnswer,
): Promise<object> {
  const { clientId, email, challenge } = openSession(parts.passkeyChallenges, call, answer)
  const credential = requiredParameter(answer.responses, 'CREDENTIAL')
  const authTime = parts.clock.now()
  const { sub } = await parts.passkeys.authenticate(call, { credential, challenge })
  const { site, pool } = call
  const user = await parts.database.withSite(site.siteId, (tx) =>
    parts.users.find(tx, pool.userPoolId, sub),
  )
  // A key of another user does not prove to be this one.
  if (user?.email !== email) throw wrongUsernameOrPassword()
  return signInAnswer(parts, call, { clientId, sub, method: 'passkey', authTime })
}

/** The session that the answer goes on with: one of its own client. */
function openSession<Session extends { readonly clientId: string }>(
  sessions: { open(call: PoolRequest, sealed: string): Session | undefined },
  call: PoolRequest,
  { clientId, session: sealed }: ChallengeAnswer,
): Session {
  const session = sessions.open(call, sealed)
  if (session?.clientId === clientId) return session
  throw notAuthorized('Invalid session for the user, session is expired.')
}

const signInOf = ({ clientId, sub, method, authTimeMs }: MfaSession) => ({
  clientId,
  sub,
  method,
  authTime: new Date(authTimeMs),
})
