import { Type } from '@sinclair/typebox'

import { LANGUAGES } from '#base/language.ts'
import { PROMPTS } from '#identity/authorization/authorization-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import { SCOPES } from '#identity/pools/scopes.ts'
import type { PoolSettings } from '#identity/pools/settings.ts'
import { ASSERTION_ALGORITHMS } from '#identity/token-endpoint/client-assertion.ts'

type Described = Pick<Pool, 'issuer'> & { readonly settings: Pick<PoolSettings, 'scopes'> }

const CLIENT_AUTHENTICATION = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'none',
]

/** OpenID Connect Discovery 1.0, section 3: text, lists of text, and flags. */
export const DiscoveryDocument = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Array(Type.String()), Type.Boolean()]),
)

/** The metadata of an issuer. The paths are Cognito's. */
export const discoveryDocument = ({ issuer, settings }: Described) => ({
  issuer,
  authorization_endpoint: `${issuer}/oauth2/authorize`,
  token_endpoint: `${issuer}/oauth2/token`,
  userinfo_endpoint: `${issuer}/oauth2/userInfo`,
  revocation_endpoint: `${issuer}/oauth2/revoke`,
  end_session_endpoint: `${issuer}/logout`,
  jwks_uri: `${issuer}/.well-known/jwks.json`,
  scopes_supported: [...SCOPES, ...Object.keys(settings.scopes)],
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
  token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
  revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
  revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
  prompt_values_supported: [...PROMPTS],
  claims_supported: [
    'sub',
    'iss',
    'aud',
    'exp',
    'iat',
    'auth_time',
    'jti',
    'origin_jti',
    'nonce',
    'token_use',
    'client_id',
    'scope',
    'username',
    'name',
    'email',
    'email_verified',
    'cognito:groups',
  ],
  ui_locales_supported: [...LANGUAGES],
  claims_parameter_supported: false,
  request_parameter_supported: false,
  request_uri_parameter_supported: false,
  authorization_response_iss_parameter_supported: true,
})
