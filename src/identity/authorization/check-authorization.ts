import type { Pool } from '#identity/pools/model.ts'
import { languageOfLocales } from '#languages/language.ts'

import {
  type AuthorizationParameters,
  ISSUER_PARAMETER,
  parseAuthorizationParameters,
  canonicalQuery,
  wordsOfParameter,
} from './authorization-parameters.ts'
import {
  type AuthorizationError,
  type AuthorizationRequest,
  type CheckedAuthorization,
  PROMPTS,
} from './authorization-request.ts'
import {
  CLIENT_CHECKS,
  type ParameterCheck,
  REQUEST_CHECKS,
  authorizationError,
  grantedScopes,
} from './parameter-checks.ts'
import { errorLocation } from './response-location.ts'

/** Whether the parameters of `/oauth2/authorize`, or of the pages that carry them on, are a request that may be served. */
export function checkAuthorization(pool: Pool, params: URLSearchParams): CheckedAuthorization {
  const parameters = parseAuthorizationParameters(pool, params)
  const clientError = firstError(CLIENT_CHECKS, parameters)
  const target = targetOf(parameters)
  if (clientError || !target) return { kind: 'error-page', ...(clientError ?? NO_TARGET) }
  const state = parameters.values.get('state')
  const issuer = issuerOf(parameters)
  const requestError = firstError(REQUEST_CHECKS, parameters)
  if (requestError) {
    const { redirectUri } = target
    const location = errorLocation({ issuer, redirectUri, state }, requestError)
    return { kind: 'error-redirect', location }
  }
  return { kind: 'valid', request: requestOf(parameters, { ...target, issuer, state }) }
}

type Target = Pick<AuthorizationRequest, 'client' | 'redirectUri' | 'codeChallenge'>

const NO_TARGET = authorizationError('invalid_request', 'client_id and redirect_uri are needed')

function firstError(
  checks: readonly ParameterCheck[],
  parameters: AuthorizationParameters,
): AuthorizationError | undefined {
  for (const check of checks) {
    const error = check(parameters)
    if (error) return error
  }
  return undefined
}

function targetOf({ client, values }: AuthorizationParameters): Target | undefined {
  const redirectUri = values.get('redirect_uri')
  if (!client || redirectUri === undefined) return undefined
  return { client, redirectUri, codeChallenge: values.get('code_challenge') }
}

/** Only one that answers for the pool counts. */
function issuerOf({ pool, values }: AuthorizationParameters): string {
  const asked = values.get(ISSUER_PARAMETER)
  return asked !== undefined && pool.issuers.includes(asked) ? asked : pool.issuer
}

function requestOf(
  parameters: AuthorizationParameters,
  target: Target & Pick<AuthorizationRequest, 'issuer' | 'state'>,
): AuthorizationRequest {
  const { pool, values } = parameters
  const prompts = wordsOfParameter(parameters, 'prompt')
  const maxAge = values.get('max_age')
  return {
    ...target,
    pool,
    scope: grantedScopes(parameters).join(' '),
    nonce: values.get('nonce'),
    prompts: new Set(PROMPTS.filter((prompt) => prompts.includes(prompt))),
    maxAgeSeconds: maxAge === undefined ? undefined : Number(maxAge),
    loginHint: values.get('login_hint'),
    identityProvider: values.get('identity_provider') === 'Google' ? 'Google' : undefined,
    language: languageOfLocales(values.get('ui_locales')),
    idTokenHint: values.get('id_token_hint'),
    linkTicket: values.get('link_ticket'),
    query: canonicalQuery(parameters),
  }
}
