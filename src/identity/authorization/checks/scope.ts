import {
  type AuthorizationParameters,
  wordsOfParameter,
} from '#identity/authorization/authorization-parameters.ts'
import { COGNITO_API_SCOPE, SCOPES } from '#identity/pools/scopes.ts'

import { type ParameterCheck, invalidRequestError, authorizationError } from './check.ts'

/** RFC 6749 section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/
/** Mean nothing without an id token. */
const OF_OPENID = ['nonce', 'max_age', 'id_token_hint'] as const

export const knownScope: ParameterCheck = (asked) => {
  const scope = asked.values.get('scope')
  if (scope === undefined) return undefined
  if (!SCOPE.test(scope)) return authorizationError('invalid_scope', 'scope is not a list of words')
  return grantedScopes(asked).length > 0
    ? undefined
    : authorizationError('invalid_scope', 'scope names nothing that exists here')
}

export const openIdWhereNeeded: ParameterCheck = (asked) => {
  if (grantedScopes(asked).includes('openid')) return undefined
  const name = OF_OPENID.find((each) => asked.values.has(each))
  return name === undefined
    ? undefined
    : invalidRequestError(`scope must name "openid" when ${name} is used`)
}

/** What is asked for and known, each once; everything, as Cognito has it, when nothing is asked for. */
export function grantedScopes(asked: AuthorizationParameters): readonly string[] {
  if (!asked.values.has('scope')) return SCOPES
  const known = asked.client?.cognitoApi ? [...SCOPES, COGNITO_API_SCOPE] : SCOPES
  return [...new Set(wordsOfParameter(asked, 'scope'))].filter((scope) => known.includes(scope))
}
