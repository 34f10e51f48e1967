import type { Client } from '#identity/pools/client.ts'
import type { Pool } from '#identity/pools/model.ts'

/** Names the issuer that the client asked, where that was a former one: the response names it, too. */
export const ISSUER_PARAMETER = 'response_iss'

/** In the order of the canonical query. Other parameters are ignored, as RFC 6749 section 3.1 requires. */
const PARAMETER_NAMES = [
  'client_id',
  'redirect_uri',
  'response_type',
  'response_mode',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'prompt',
  'max_age',
  'login_hint',
  'id_token_hint',
  'ui_locales',
  'identity_provider',
  'link_ticket',
  'request',
  'request_uri',
  'registration',
  ISSUER_PARAMETER,
] as const
export type ParameterName = (typeof PARAMETER_NAMES)[number]

/** The parameters of an authorization request, before anything about them has been checked. */
export interface AuthorizationParameters {
  readonly pool: Pool
  readonly client: Client | undefined
  /** A parameter without a value counts as left out; of one that comes twice, none counts. */
  readonly values: ReadonlyMap<ParameterName, string>
  readonly repeated: readonly ParameterName[]
  readonly length: number
}

export function parseAuthorizationParameters(
  pool: Pool,
  params: URLSearchParams,
): AuthorizationParameters {
  const values = new Map<ParameterName, string>()
  const repeated: ParameterName[] = []
  for (const name of PARAMETER_NAMES) {
    const given = params.getAll(name)
    const [value] = given
    if (given.length > 1) repeated.push(name)
    else if (value !== undefined && value !== '') values.set(name, value)
  }
  const client = pool.clients.get(values.get('client_id') ?? '')
  return { pool, client, values, repeated, length: params.toString().length }
}

export const wordsOfParameter = (
  parameters: AuthorizationParameters,
  name: ParameterName,
): readonly string[] => (parameters.values.get(name) ?? '').split(' ').filter((word) => word !== '')

export const canonicalQuery = (parameters: AuthorizationParameters): string =>
  new URLSearchParams([...parameters.values]).toString()
