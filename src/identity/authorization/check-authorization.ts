import type { Pool } from '#identity/pools/model.ts'

import {
  type AuthorizationParameters,
  parseAuthorizationParameters,
  canonicalQuery,
} from './authorization-parameters.ts'
import type {
  CheckedAuthorization,
  AuthorizationRequest,
  AuthorizationError,
} from './authorization-request.ts'
import {
  knownPrompt,
  knownProvider,
  maxAgeOf,
  promptsOf,
  providerOf,
  wholeMaxAge,
} from './checks/authentication.ts'
import { type ParameterCheck, authorizationError } from './checks/check.ts'
import { boundedLength, knownClient, registeredRedirectUri } from './checks/client.ts'
import { codeResponse, noRequestObject, queryResponse } from './checks/response.ts'
import { grantedScopes, knownScope, openIdWhereNeeded } from './checks/scope.ts'
import { pkceChallenge, plainText, singleValues } from './checks/values.ts'
import { errorLocation } from './response-location.ts'

/** Until these pass, the browser is redirected nowhere. */
const CLIENT_CHECKS: readonly ParameterCheck[] = [boundedLength, knownClient, registeredRedirectUri]

/** The client is told of the first that fails. */
const REQUEST_CHECKS: readonly ParameterCheck[] = [
  singleValues,
  noRequestObject,
  queryResponse,
  codeResponse,
  knownPrompt,
  knownScope,
  openIdWhereNeeded,
  pkceChallenge,
  wholeMaxAge,
  plainText,
  knownProvider,
]

/** Whether the parameters of `/oauth2/authorize`, or of the pages that carry them on, are a request that may be served. */
export function checkAuthorization(pool: Pool, params: URLSearchParams): CheckedAuthorization {
  const asked = parseAuthorizationParameters(pool, params)
  const refusal = firstError(CLIENT_CHECKS, asked)
  const target = targetOf(asked)
  if (refusal || !target) return { kind: 'error-page', ...(refusal ?? NO_TARGET) }
  const state = asked.values.get('state')
  const objection = firstError(REQUEST_CHECKS, asked)
  if (objection) {
    const { redirectUri } = target
    const location = errorLocation({ pool, redirectUri, state }, objection)
    return { kind: 'error-redirect', location }
  }
  return { kind: 'valid', request: requestOf(asked, target, state) }
}

type Target = Pick<AuthorizationRequest, 'client' | 'redirectUri' | 'codeChallenge'>

const NO_TARGET = authorizationError('invalid_request', 'client_id and redirect_uri are needed')

function firstError(
  checks: readonly ParameterCheck[],
  asked: AuthorizationParameters,
): AuthorizationError | undefined {
  for (const check of checks) {
    const refusal = check(asked)
    if (refusal) return refusal
  }
  return undefined
}

function targetOf({ client, values }: AuthorizationParameters): Target | undefined {
  const redirectUri = values.get('redirect_uri')
  if (!client || redirectUri === undefined) return undefined
  return { client, redirectUri, codeChallenge: values.get('code_challenge') ?? '' }
}

const requestOf = (
  asked: AuthorizationParameters,
  target: Target,
  state: string | undefined,
): AuthorizationRequest => ({
  ...target,
  pool: asked.pool,
  state,
  scope: grantedScopes(asked).join(' '),
  nonce: asked.values.get('nonce'),
  prompts: promptsOf(asked),
  maxAgeSeconds: maxAgeOf(asked),
  loginHint: asked.values.get('login_hint'),
  identityProvider: providerOf(asked),
  idTokenHint: asked.values.get('id_token_hint'),
  linkTicket: asked.values.get('link_ticket'),
  query: canonicalQuery(asked),
})
