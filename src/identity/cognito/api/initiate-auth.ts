import { Type } from '@sinclair/typebox'

import type { PoolRequest } from '#identity/pool-request.ts'

import { requireCognitoClient } from './client.ts'
import { invalidParameter } from './cognito-error.ts'
import type { CognitoServices } from './cognito-services.ts'
import { type FirstStep, byChallenge, byPassword, startChosen } from './first-steps.ts'
import {
  AuthParameters,
  ClientFields,
  cognitoOperation,
  requiredParameter,
  usernameParameter,
} from './operation.ts'
import { refreshAnswer } from './token-answers.ts'

type Flow = (parts: CognitoServices, call: PoolRequest, input: FirstStep) => Promise<object>

const FLOWS: ReadonlyMap<string, Flow> = new Map([
  ['USER_SRP_AUTH', byChallenge],
  ['USER_PASSWORD_AUTH', byPassword],
  ['USER_AUTH', byChoice],
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

/** As the client prefers, or as it chooses of what there is: the same for every address, with or without an account. */
function byChoice(parts: CognitoServices, call: PoolRequest, input: FirstStep): Promise<object> {
  const { clientId, parameters } = input
  const email = usernameParameter(parameters)
  const preferred = parameters['PREFERRED_CHALLENGE'] ?? ''
  return startChosen(parts, call, { clientId, email, parameters, chosen: preferred })
}

function byRefreshToken(
  parts: CognitoServices,
  call: PoolRequest,
  { clientId, parameters }: FirstStep,
): Promise<object> {
  return refreshAnswer(parts, call, {
    clientId,
    refreshToken: requiredParameter(parameters, 'REFRESH_TOKEN'),
  })
}
