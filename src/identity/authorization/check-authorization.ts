import type { Pool } from '#identity/pools/model.ts'

import { type Asked, askedOf, canonicalQuery } from './asked.ts'
import type { AuthorizationCheck, AuthorizationRequest, Refusal } from './authorization-request.ts'
import { bounded } from './checks/bounded.ts'
import { type Check, refused } from './checks/check.ts'
import { knownClient } from './checks/client.ts'
import { knownProvider, providerOf } from './checks/identity-provider.ts'
import { maxAgeOf, wholeMaxAge } from './checks/max-age.ts'
import { plainText } from './checks/plain-text.ts'
import { knownPrompt, promptsOf } from './checks/prompt.ts'
import { proofKey } from './checks/proof-key.ts'
import { registeredRedirectUri } from './checks/redirect-uri.ts'
import { noRequestObject } from './checks/request-object.ts'
import { queryResponse } from './checks/response-mode.ts'
import { codeResponse } from './checks/response-type.ts'
import { grantedScopes, knownScope, openIdWhereNeeded } from './checks/scope.ts'
import { singleValues } from './checks/single-values.ts'
import { refusalLocation } from './response-location.ts'

/** Until these pass, nobody is sent anywhere. */
const BEFORE_WE_TRUST_THE_ADDRESS: readonly Check[] = [bounded, knownClient, registeredRedirectUri]

/** The client is told of the first that fails. */
const OF_THE_REQUEST: readonly Check[] = [
  singleValues,
  noRequestObject,
  queryResponse,
  codeResponse,
  knownPrompt,
  knownScope,
  openIdWhereNeeded,
  proofKey,
  wholeMaxAge,
  plainText,
  knownProvider,
]

/** Whether the parameters of `/oauth2/authorize`, or of the pages that carry them on, are a request that may be served. */
export function checkAuthorization(pool: Pool, params: URLSearchParams): AuthorizationCheck {
  const asked = askedOf(pool, params)
  const refusal = firstRefusal(BEFORE_WE_TRUST_THE_ADDRESS, asked)
  const target = targetOf(asked)
  if (refusal || !target) return { kind: 'refused-here', ...(refusal ?? NOWHERE) }
  const state = asked.values.get('state')
  const objection = firstRefusal(OF_THE_REQUEST, asked)
  if (objection) {
    const { redirectUri } = target
    const location = refusalLocation({ pool, redirectUri, state }, objection)
    return { kind: 'refused-there', location }
  }
  return { kind: 'valid', request: requestOf(asked, target, state) }
}

type Target = Pick<AuthorizationRequest, 'client' | 'redirectUri' | 'codeChallenge'>

const NOWHERE = refused('invalid_request', 'client_id and redirect_uri are needed')

function firstRefusal(checks: readonly Check[], asked: Asked): Refusal | undefined {
  for (const check of checks) {
    const refusal = check(asked)
    if (refusal) return refusal
  }
  return undefined
}

function targetOf({ client, values }: Asked): Target | undefined {
  const redirectUri = values.get('redirect_uri')
  if (!client || redirectUri === undefined) return undefined
  return { client, redirectUri, codeChallenge: values.get('code_challenge') ?? '' }
}

const requestOf = (
  asked: Asked,
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
