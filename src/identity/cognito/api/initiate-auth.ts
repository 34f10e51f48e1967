import { Type } from '@sinclair/typebox'

import { clientPublicOf } from '#identity/cognito/srp/exchange.ts'
import { hexOf } from '#identity/cognito/srp/group.ts'
import type { PoolRequest } from '#identity/pool-request.ts'

import { requireCognitoClient } from './client.ts'
import { invalidParameter, notConfirmed } from './cognito-error.ts'
import type { CognitoServices } from './cognito-services.ts'
import {
  AuthParameters,
  ClientFields,
  cognitoOperation,
  requiredParameter,
  usernameParameter,
} from './operation.ts'
import { passwordAnswer, refreshAnswer } from './token-answers.ts'

interface FlowInput {
  readonly clientId: string
  readonly parameters: AuthParameters
}

type Flow = (parts: CognitoServices, call: PoolRequest, input: FlowInput) => Promise<object>

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

export const initiateAuth = cognitoOperation(InitiateAuth, async (parts, call, input) => {
  const { ClientId, AuthFlow, AuthParameters: parameters = {} } = input
  const SecretHash = parameters['SECRET_HASH'] ?? null
  const { clientId } = requireCognitoClient(call.pool, { ClientId, SecretHash })
  const flow = FLOWS.get(AuthFlow)
  if (!flow) throw invalidParameter(`${AuthFlow} flow not enabled for this client`)
  return flow(parts, call, { clientId, parameters })
})

async function byChallenge(
  { srpSignIns }: CognitoServices,
  call: PoolRequest,
  { clientId, parameters }: FlowInput,
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

async function byPassword(
  parts: CognitoServices,
  call: PoolRequest,
  { clientId, parameters }: FlowInput,
): Promise<object> {
  const email = usernameParameter(parameters)
  const password = requiredParameter(parameters, 'PASSWORD')
  const authTime = parts.clock.now()
  const answer = await parts.passwordSignIns.authenticate(call, { email, password })
  if (answer.kind === 'unconfirmed') throw notConfirmed()
  const { sub } = answer.user
  return passwordAnswer(parts, call, { clientId, sub, method: 'password', authTime })
}

function byRefreshToken(
  parts: CognitoServices,
  call: PoolRequest,
  { clientId, parameters }: FlowInput,
): Promise<object> {
  return refreshAnswer(parts, call, {
    clientId,
    refreshToken: requiredParameter(parameters, 'REFRESH_TOKEN'),
  })
}
