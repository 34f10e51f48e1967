import { Type } from '@sinclair/typebox'

import { requireCognitoClient } from './client.ts'
import { invalidParameter } from './cognito-error.ts'
import {
  AuthParameters,
  ClientFields,
  cognitoOperation,
  requiredParameter,
  usernameParameter,
} from './operation.ts'
import { signInAnswer } from './token-answers.ts'

const RespondToAuthChallenge = Type.Object({
  ClientId: ClientFields.ClientId,
  ChallengeName: Type.String({ maxLength: 64 }),
  ChallengeResponses: Type.Optional(AuthParameters),
})

/** The one challenge that we make: prove the password without sending it. */
export const respondToAuthChallenge = cognitoOperation(
  RespondToAuthChallenge,
  async (parts, call, input) => {
    const { ClientId, ChallengeName, ChallengeResponses: responses = {} } = input
    const SecretHash = responses['SECRET_HASH'] ?? null
    const { clientId } = requireCognitoClient(call.pool, { ClientId, SecretHash })
    if (ChallengeName !== 'PASSWORD_VERIFIER') {
      throw invalidParameter(`${ChallengeName} is not a challenge of this client`)
    }
    const answer = {
      email: usernameParameter(responses),
      secretBlock: Buffer.from(
        requiredParameter(responses, 'PASSWORD_CLAIM_SECRET_BLOCK'),
        'base64',
      ),
      timestamp: requiredParameter(responses, 'TIMESTAMP'),
      signature: requiredParameter(responses, 'PASSWORD_CLAIM_SIGNATURE'),
    }
    const authTime = parts.clock.now()
    const { sub } = await parts.srpSignIns.finish({ ...call, clientId }, answer)
    return signInAnswer(parts, call, { clientId, sub, method: 'srp', authTime })
  },
)
