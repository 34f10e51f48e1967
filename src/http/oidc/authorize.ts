import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { PoolPath } from '#http/path-params.ts'
import { type PoolHttpRequest, publicSite } from '#http/plugins/site.ts'
import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import { checkAuthorization } from '#identity/authorization/check-authorization.ts'
import type { Client } from '#identity/pools/client.ts'
import type { Pool } from '#identity/pools/model.ts'

import { fetchContextOf } from './fetch-context.ts'
import { readFormFields } from './form-body.ts'
import { openerPolicyOf } from './opener-policy.ts'
import { authorizationErrorPage } from './pages/error-page.ts'
import { redirectToProvider } from './provider.ts'
import { seeOther } from './see-other.ts'
import { readSession } from './session-cookie.ts'

const OPEN = 'Where clients send browsers to sign in; a sign-in proves itself on the way'

/** RFC 6749 section 3.1; GET and POST alike, as OpenID Connect Core section 3.1.2.1 requires. */
export const authorizeRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/oidc/:userPoolId/oauth2/authorize' })
    .use(publicSite(context))
    .get(
      '/',
      async ({ poolRequest, request }) =>
        authorize(context, poolRequest, new URL(request.url).searchParams),
      { openPool: OPEN, params: PoolPath },
    )
    .post(
      '/',
      async ({ poolRequest, request }) =>
        authorize(context, poolRequest, await readFormFields(request)),
      { openPool: OPEN, params: PoolPath },
    )

async function authorize(
  context: AppContext,
  poolRequest: PoolHttpRequest,
  parameters: URLSearchParams,
): Promise<Response> {
  const { site, pool, request } = poolRequest
  const check = checkAuthorization(pool, parameters)
  if (check.kind === 'error-page') return authorizationErrorPage(site, check, request)
  if (check.kind === 'error-redirect') return seeOther(check.location)

  const authorization = check.request
  if (!mayAsk(request, authorization)) return authorizationErrorPage(site, NOT_A_PAGE, request)
  const session = mayAnswerSilently(request, pool) ? readSession(request, pool) : undefined
  const next = await context.signIns.resume(site, authorization, session)
  if (next?.kind === 'client') return seeOther(next.location, [], openerPolicyOf(pool))
  if (next === undefined && authorization.identityProvider) {
    return redirectToProvider(context, poolRequest, authorization)
  }
  const page = next === undefined ? 'login' : 'consent'
  const location = `${new URL(pool.issuer).pathname}/${page}?${authorization.query}`
  return seeOther(location, [], openerPolicyOf(pool))
}

const NOT_A_PAGE = {
  error: 'access_denied',
  description: 'A sign-in is a page that its user goes to: no script and no frame may ask for it',
}

/**
 * Whoever reads the address that an answer leads to has the code. A script of the site reads that of its own requests and
 * of frames on its origin, so these are answered only where they were made to be: `prompt=none` in a frame, at the pool of
 * visitors, on a page of the client.
 */
function mayAsk(request: Request, { pool, client, prompts }: AuthorizationRequest): boolean {
  const asked = fetchContextOf(request)
  if (asked !== 'frame') return asked !== 'script'
  return pool.kind === 'data' && prompts.has('none') && isPageOf(client, pool, request)
}

/** Whether a frame says that the page around it is on an origin of the client, or of the sign-in itself. */
function isPageOf({ redirectUris }: Client, { issuer }: Pool, { headers }: Request): boolean {
  const page = headers.get('referer') ?? ''
  if (!URL.canParse(page)) return headers.get('sec-fetch-site') === 'same-origin'
  const { origin } = new URL(page)
  return [issuer, ...redirectUris].some((uri) => new URL(uri).origin === origin)
}

/** An admin's session answers only what is known to be a page that they went to. Over plain HTTP browsers do not say. */
const mayAnswerSilently = (request: Request, { kind, issuer }: Pool): boolean =>
  kind === 'data' || issuer.startsWith('http:') || fetchContextOf(request) === 'navigation'
