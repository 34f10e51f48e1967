import { Type } from '@sinclair/typebox'

import { clientPublicOf } from '#identity/cognito/srp/exchange.ts'
import { hexOf } from '#identity/cognito/srp/group.ts'

import { clientOf } from './client.ts'
import { invalidParameter, notConfirmed } from './cognito-error.ts'
import { AuthParameters, ClientFields, operation, required, usernameIn } from './operation.ts'
import type { Call, CognitoParts } from './parts.ts'
import { refreshed, signedIn } from './token-answers.ts'

interface Asked {
  readonly clientId: string
  readonly parameters: AuthParameters
}

type Flow = (parts: CognitoParts, call: Call, asked: Asked) => Promise<object>

const FLOWS: ReadonlyMap<string, Flow> = new Map([
  ['USER_SRP_AUTH', byChallenge],
  ['USER_PASSWORD_AUTH', byPassword],
  ['REFRESH_TOKEN_AUTH', byRefreshToken],
  ['REFRESH_TOKEN', byRefreshToken],
])

const InitiateAuth = Type.Object({
  ClientId: ClientFields.ClientId,
  AuthFlow: Type.String({ maxLength: 64 }),
  AuthParameters: Type.Optional(AuthParameters),
})

export const initiateAuth = operation(InitiateAuth, async (parts, call, input) => {
  const { ClientId, AuthFlow, AuthParameters: parameters = {} } = input
  const SecretHash = parameters['SECRET_HASH'] ?? null
  const { clientId } = clientOf(call.pool, { ClientId, SecretHash })
  const flow = FLOWS.get(AuthFlow)
  if (!flow) throw invalidParameter(`${AuthFlow} flow not enabled for this client`)
  return flow(parts, call, { clientId, parameters })
})

async function byChallenge(
  { srpSignIns }: CognitoParts,
  { site, pool }: Call,
  { clientId, parameters }: Asked,
): Promise<object> {
  const email = usernameIn(parameters)
  const clientPublic = clientPublicOf(required(parameters, 'SRP_A'))
  if (clientPublic === undefined) throw invalidParameter('SRP_A is not a valid public value')
  const by = { site, pool, clientId }
  const challenge = await srpSignIns.begin(by, email, clientPublic)
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

async function byPassword(
  parts: CognitoParts,
  call: Call,
  { clientId, parameters }: Asked,
): Promise<object> {
  const { site, pool, origin } = call
  const email = usernameIn(parameters)
  const password = required(parameters, 'PASSWORD')
  const authTime = parts.clock.now()
  const answer = await parts.accounts.authenticate(site, pool, { email, password }, origin)
  if (answer.kind === 'unconfirmed') throw notConfirmed()
  const { sub } = answer.user
  return signedIn(parts, call, { clientId, sub, method: 'password', authTime })
}

function byRefreshToken(
  parts: CognitoParts,
  call: Call,
  { clientId, parameters }: Asked,
): Promise<object> {
  return refreshed(parts, call, {
    clientId,
    refreshToken: required(parameters, 'REFRESH_TOKEN'),
  })
}
