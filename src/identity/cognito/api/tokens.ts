import { Type } from '@sinclair/typebox'

import { requireCognitoClient } from './client.ts'
import { CognitoError } from './cognito-error.ts'
import { TokenField, cognitoOperation } from './operation.ts'
import { refreshAnswer } from './token-answers.ts'

const ClientId = Type.String({ minLength: 1, maxLength: 128 })
/** Clients have no secret here: one that is sent is checked like a `SecretHash`. */
const ClientSecret = Type.Optional(Type.Union([Type.String({ maxLength: 128 }), Type.Null()]))

const RevokeToken = Type.Object({ ClientId, ClientSecret, Token: TokenField })

const GetTokens = Type.Object({ ClientId, ClientSecret, RefreshToken: TokenField })

/** Ends the sign-in of the refresh token. Does nothing for an unknown one. */
export const revokeToken = cognitoOperation(RevokeToken, async (parts, call, input) => {
  const { clientId } = requireCognitoClient(call.pool, {
    ...input,
    SecretHash: input.ClientSecret ?? null,
  })
  if (input.Token.includes('.')) {
    throw new CognitoError('UnsupportedTokenTypeException', 'Unsupported token type')
  }
  await parts.tokenEndpoint.revoke(call, { clientId, token: input.Token })
  return {}
})

/** What newer clients call in place of InitiateAuth, to be given the next refresh token. */
export const getTokensFromRefreshToken = cognitoOperation(GetTokens, (parts, call, input) => {
  const { clientId } = requireCognitoClient(call.pool, {
    ...input,
    SecretHash: input.ClientSecret ?? null,
  })
  return refreshAnswer(parts, call, { clientId, refreshToken: input.RefreshToken })
})
