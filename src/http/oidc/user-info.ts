import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { isForm } from '#http/bodies/content-types.ts'
import { PoolPath } from '#http/path-params.ts'
import { type PoolHttpRequest, publicSite } from '#http/plugins/site.ts'
import { OAuthError } from '#identity/token-endpoint/oauth-error.ts'

import { readFormFields } from './form-body.ts'
import { oauthResponse } from './oauth-response.ts'

const OPEN = 'Checks the access token itself, and refuses in the form of RFC 6750'
const BEARER = /^bearer(?: |$)/i

/** OpenID Connect Core section 5.3. */
export const userInfoRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/oidc/:userPoolId/oauth2/userInfo' })
    .use(publicSite(context))
    .get('/', async ({ poolRequest }) => userInfo(context, poolRequest), {
      openPool: OPEN,
      params: PoolPath,
    })
    .post('/', async ({ poolRequest }) => userInfo(context, poolRequest), {
      openPool: OPEN,
      changes: { audit: 'query', effects: [] },
      params: PoolPath,
    })

async function userInfo(
  context: AppContext,
  { site, pool, request }: PoolHttpRequest,
): Promise<Response> {
  const answer = await oauthResponse(request, async () => {
    const authorization = await bearerOf(request)
    return authorization === undefined
      ? undefined
      : context.tokenEndpoint.userInfo(site, pool, authorization)
  })
  if (answer.status === 400)
    answer.headers.set('www-authenticate', 'Bearer error="invalid_request"')
  const hadNoToken = answer.ok && answer.body === null
  return hadNoToken ? challenge() : answer
}

/**
 * The token of the header or of a form, in the header's form (RFC 6750 sections 2.1 and 2.2). Refuses a token in the URL,
 * which ends up in logs, and two tokens, of which another reader could take the other one.
 */
async function bearerOf(request: Request): Promise<string | undefined> {
  const header = request.headers.get('authorization') ?? ''
  const inForm = isForm(request.headers.get('content-type'))
    ? (await readFormFields(request)).getAll('access_token')
    : []
  if (new URL(request.url).searchParams.has('access_token')) {
    throw new OAuthError('invalid_request', 'access_token does not belong in a URL')
  }
  if (inForm.length + (header === '' ? 0 : 1) > 1) {
    throw new OAuthError('invalid_request', 'The access token may be sent in one way only')
  }
  const [token] = inForm
  if (token !== undefined) return `Bearer ${token}`
  return BEARER.test(header) ? header : undefined
}

/** The response to a request without a token has no error code (RFC 6750 section 3.1). */
const challenge = (): Response =>
  new Response(null, {
    status: 401,
    headers: { 'www-authenticate': 'Bearer scope="openid"', 'cache-control': 'no-store' },
  })
