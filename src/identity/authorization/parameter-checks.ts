import type { Client } from '#identity/pools/client.ts'
import { COGNITO_API_SCOPE, SCOPES } from '#identity/pools/scopes.ts'

import { type AuthorizationParameters, wordsOfParameter } from './authorization-parameters.ts'
import {
  type AuthorizationError,
  type AuthorizationErrorCode,
  PROMPTS,
} from './authorization-request.ts'

/** With the rest of a request's head it stays under what servers and proxies let through. */
const MAX_LENGTH = 8192
/** RFC 6749 section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/
/** Parameters that mean nothing without an id token. */
const OF_OPENID = ['nonce', 'max_age', 'id_token_hint'] as const
/** RFC 7636 section 4.2: base64url of a SHA-256. */
const S256_CHALLENGE = /^[A-Za-z0-9_-]{43}$/
const PROMPT_WORDS: readonly string[] = PROMPTS
const SECONDS = /^\d{1,10}$/
/** How long texts may be that are given back to the client, stored, or shown. */
const TEXT_LIMITS = [
  ['state', 2048],
  ['nonce', 512],
  ['login_hint', 320],
] as const
/** Cognito's own name for signing in with an account of the pool itself. */
const OWN_PROVIDER = 'COGNITO'

/** One rule for authorization requests: returns the error when it is broken. */
export type ParameterCheck = (parameters: AuthorizationParameters) => AuthorizationError | false

export const authorizationError = (
  error: AuthorizationErrorCode,
  description: string,
): AuthorizationError => ({ error, description })

const invalidRequest = (description: string): AuthorizationError =>
  authorizationError('invalid_request', description)

/** Until these pass, the browser is redirected nowhere. */
export const CLIENT_CHECKS: readonly ParameterCheck[] = [
  ({ length }) =>
    length > MAX_LENGTH && invalidRequest(`The request is longer than ${MAX_LENGTH} characters`),
  ({ repeated }) =>
    repeated.includes('client_id') && invalidRequest('client_id is there more than once'),
  ({ values }) => !values.has('client_id') && invalidRequest('client_id is missing'),
  ({ client }) => !client && authorizationError('invalid_client', 'There is no such client here'),
  ({ repeated }) =>
    repeated.includes('redirect_uri') && invalidRequest('redirect_uri is there more than once'),
  ({ values }) => !values.has('redirect_uri') && invalidRequest('redirect_uri is missing'),
  // Character by character: anything cleverer has been an open redirect somewhere (RFC 9700 section 4.1).
  ({ client, values }) =>
    !client?.redirectUris.includes(values.get('redirect_uri') ?? '') &&
    authorizationError(
      'invalid_redirect_uri',
      'redirect_uri is not one that the client has registered',
    ),
]

/** The client gets the error of the first that fails. */
export const REQUEST_CHECKS: readonly ParameterCheck[] = [
  ({ repeated: [name] }) => name !== undefined && invalidRequest(`${name} is there more than once`),
  // OpenID Connect Core sections 6 and 7.2.1: ignoring one would drop what the client asks for in it.
  ({ values }) =>
    values.has('request') &&
    authorizationError('request_not_supported', 'request is not supported'),
  ({ values }) =>
    values.has('request_uri') &&
    authorizationError('request_uri_not_supported', 'request_uri is not supported'),
  ({ values }) =>
    values.has('registration') &&
    authorizationError('registration_not_supported', 'registration is not supported'),
  ({ values }) =>
    (values.get('response_mode') ?? 'query') !== 'query' &&
    authorizationError(
      'unsupported_response_mode',
      'response_mode must be "query", or be left out',
    ),
  ({ values }) => !values.has('response_type') && invalidRequest('response_type is missing'),
  ({ values }) =>
    values.get('response_type') !== 'code' &&
    authorizationError('unsupported_response_type', 'response_type must be "code"'),
  (parameters) =>
    !wordsOfParameter(parameters, 'prompt').every((word) => PROMPT_WORDS.includes(word)) &&
    invalidRequest(`prompt takes ${PROMPTS.join(', ')}`),
  (parameters) => {
    const prompts = new Set(wordsOfParameter(parameters, 'prompt'))
    return (
      prompts.has('none') &&
      prompts.size > 1 &&
      invalidRequest('prompt "none" excludes other values')
    )
  },
  ({ values }) =>
    !SCOPE.test(values.get('scope') ?? 'openid') &&
    authorizationError('invalid_scope', 'scope is not a list of words'),
  (parameters) =>
    grantedScopes(parameters).length === 0 &&
    authorizationError('invalid_scope', 'scope names nothing that exists here'),
  (parameters) => {
    const name = OF_OPENID.find((each) => parameters.values.has(each))
    return (
      name !== undefined &&
      !grantedScopes(parameters).includes('openid') &&
      invalidRequest(`scope must name "openid" when ${name} is used`)
    )
  },
  // PKCE with S256 wherever a public client gets a code; left out, `code_challenge_method` would mean `plain`.
  ({ values, client }) =>
    needsPkce(client) &&
    !values.has('code_challenge') &&
    invalidRequest('code_challenge is missing: PKCE is required'),
  ({ values, client }) =>
    (needsPkce(client) || usesPkce(values)) &&
    values.get('code_challenge_method') !== 'S256' &&
    invalidRequest('code_challenge_method must be "S256"'),
  ({ values, client }) =>
    (needsPkce(client) || usesPkce(values)) &&
    !S256_CHALLENGE.test(values.get('code_challenge') ?? '') &&
    invalidRequest('code_challenge must be the base64url of a SHA-256: 43 characters'),
  ({ values }) =>
    !SECONDS.test(values.get('max_age') ?? '0') && invalidRequest('max_age is a number of seconds'),
  ({ values }) => {
    const tooLong = TEXT_LIMITS.find(([name, limit]) => !isPlain(values.get(name) ?? '', limit))
    if (!tooLong) return false
    const [name, limit] = tooLong
    return invalidRequest(`${name} takes ${limit} characters, none of them control characters`)
  },
  ({ values }) =>
    ![undefined, OWN_PROVIDER, 'Google'].includes(values.get('identity_provider')) &&
    invalidRequest('identity_provider takes "Google"'),
  ({ values, pool }) =>
    values.get('identity_provider') === 'Google' &&
    !pool.google?.enabled &&
    invalidRequest('identity_provider "Google" is not set up here'),
  ({ values, client }) =>
    client?.purpose === 'link' &&
    values.get('identity_provider') !== 'Google' &&
    authorizationError('unauthorized_client', 'The client exists for linking a provider only'),
]

/** Returns the scopes that are requested and exist, each once; the standard ones when none is requested. */
export function grantedScopes(parameters: AuthorizationParameters): readonly string[] {
  if (!parameters.values.has('scope')) return SCOPES
  const { pool, client } = parameters
  const own = Object.keys(pool.settings.scopes)
  const supported = [...SCOPES, ...own, ...(client?.cognitoApi ? [COGNITO_API_SCOPE] : [])]
  return [...new Set(wordsOfParameter(parameters, 'scope'))].filter((scope) =>
    supported.includes(scope),
  )
}

/** The account's page is part of the sign-in, and reads the browser's session itself: it gets no code. */
const needsPkce = (client: Client | undefined): boolean =>
  client?.purpose !== 'account' && (client?.proofs.authentication ?? 'none') === 'none'

const usesPkce = (values: AuthorizationParameters['values']): boolean =>
  values.has('code_challenge') || values.has('code_challenge_method')

const isPlain = (text: string, limit: number): boolean =>
  text.length <= limit && !/\p{Cc}/u.test(text)
