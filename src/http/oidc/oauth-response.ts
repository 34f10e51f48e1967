import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import type { PoolHttpRequest } from '#http/plugins/site.ts'
import type { Client } from '#identity/pools/client.ts'
import { OAuthError } from '#identity/token-endpoint/oauth-error.ts'

import { readFormFields } from './form-body.ts'

/** RFC 6749 section 5.1: responses must not be cached. */
const HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  pragma: 'no-cache',
}

/** The parameters that are read. Others are ignored, and may come twice, as `resource` may (RFC 8707). */
const PARAMETERS = [
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'grant_type',
  'code',
  'redirect_uri',
  'code_verifier',
  'refresh_token',
  'scope',
  'token',
  'token_type_hint',
]

/** A client's request. A field without a value counts as left out. */
export interface ClientForm {
  readonly client: Client
  readonly fields: ReadonlyMap<string, string>
}

/** Reads a client's request to one of the endpoints that are not for browsers. */
export async function clientForm(
  { clientAuthentication }: AppContext,
  poolRequest: PoolHttpRequest,
): Promise<ClientForm> {
  const { request } = poolRequest
  const form = await readFormFields(request)
  const twice = PARAMETERS.find((name) => form.getAll(name).length > 1)
  if (twice !== undefined)
    throw new OAuthError('invalid_request', `${twice} is there more than once`)
  const fields = new Map([...form].filter(([, value]) => value !== ''))
  const client = await clientAuthentication.authenticate(poolRequest, {
    clientId: fields.get('client_id'),
    clientSecret: fields.get('client_secret'),
    clientAssertion: fields.get('client_assertion'),
    clientAssertionType: fields.get('client_assertion_type'),
    authorization: request.headers.get('authorization') ?? undefined,
  })
  return { client, fields }
}

export function requiredField(fields: ReadonlyMap<string, string>, name: string): string {
  const value = fields.get(name)
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing`)
  return value
}

/** The response, or the error in OAuth's form. Errors that are not about the request are left to the common handler. */
export async function oauthResponse(
  request: Request,
  answer: () => Promise<object | undefined>,
): Promise<Response> {
  try {
    const body = await answer()
    return new Response(body && JSON.stringify(body), { headers: HEADERS })
  } catch (error) {
    const refusal = oauthErrorOf(error)
    if (!refusal) throw error
    return oauthErrorResponse(refusal, request)
  }
}

function oauthErrorOf(error: unknown): OAuthError | undefined {
  if (error instanceof OAuthError) return error
  if (!(error instanceof AppError)) return undefined
  const ofForm = ['ValidationError', 'UnsupportedMediaType', 'PayloadTooLarge'].includes(error.code)
  return ofForm ? new OAuthError('invalid_request', error.message) : undefined
}

function oauthErrorResponse(
  { error, description, status }: OAuthError,
  request: Request,
): Response {
  const headers = new Headers(HEADERS)
  const said = `error="${error}", error_description="${description.replaceAll('"', "'")}"`
  // A browser that is challenged for Basic without having tried it would prompt its user.
  if (error === 'invalid_client' && request.headers.has('authorization')) {
    headers.set('www-authenticate', `Basic realm="clients", ${said}`)
  }
  if (error === 'invalid_token') headers.set('www-authenticate', `Bearer ${said}`)
  if (error === 'insufficient_scope') {
    headers.set('www-authenticate', `Bearer ${said}, scope="openid"`)
  }
  const body = JSON.stringify({ error, error_description: description })
  return new Response(body, { status, headers })
}
