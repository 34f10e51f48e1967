import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { fetchContextOf } from '#http/fetch-context.ts'
import { PoolPath } from '#http/path-params.ts'
import { type PoolPageRequest, pages } from '#http/plugins/pages.ts'
import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import { checkAuthorization } from '#identity/authorization/check-authorization.ts'
import type { Pool } from '#identity/pools/model.ts'
import { t } from '#languages/message.ts'

import { readFormFields } from './form-body.ts'
import { authorizationErrorPage } from './pages/error-page.ts'
import { redirectToProvider } from './provider.ts'
import { seeOther } from './see-other.ts'
import { readSession } from './session-cookie.ts'

const GATE = {
  open: 'Where clients send browsers to sign in; a sign-in proves itself on the way',
  foreignForms: true,
  silentFrames: true,
  popups: true,
} as const

/** RFC 6749 section 3.1; for both GET and POST, as OpenID Connect Core section 3.1.2.1 requires. */
export const authorizeRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/oidc/:userPoolId/oauth2/authorize' })
    .use(pages(context))
    .get(
      '/',
      async ({ poolRequest, request }) =>
        authorize(context, poolRequest, new URL(request.url).searchParams),
      { poolPage: GATE, params: PoolPath },
    )
    .post(
      '/',
      async ({ poolRequest, request }) =>
        authorize(context, poolRequest, await readFormFields(request)),
      { poolPage: GATE, changes: { audit: 'page', effects: [] }, params: PoolPath },
    )

async function authorize(
  context: AppContext,
  poolRequest: PoolPageRequest,
  parameters: URLSearchParams,
): Promise<Response> {
  const { site, pool, request } = poolRequest
  const check = checkAuthorization(pool, parameters)
  if (check.kind === 'error-page') return authorizationErrorPage(poolRequest, check)
  if (check.kind === 'error-redirect') return seeOther(check.location)

  const authorization = check.request
  requirePageOf(authorization, request)
  const session = mayAnswerSilently(request, pool) ? readSession(request, pool) : undefined
  const next = await context.signIns.resume(site, authorization, session)
  if (next?.kind === 'client') return seeOther(next.location)
  if (next === undefined && authorization.identityProvider) {
    return redirectToProvider(context, poolRequest, authorization)
  }
  const page = next === undefined ? 'login' : 'consent'
  const location = `${new URL(pool.issuer).pathname}/${page}?${authorization.query}`
  return seeOther(location)
}

/** A frame is of a page of the client, or of the sign-in itself: a script that reads its final address has the code. */
function requirePageOf(authorization: AuthorizationRequest, request: Request): void {
  if (fetchContextOf(request) === 'frame' && !isPageOf(authorization, request)) {
    throw new AppError('Forbidden', t('error.not-a-page'))
  }
}

function isPageOf({ client, pool }: AuthorizationRequest, { headers }: Request): boolean {
  const page = headers.get('referer') ?? ''
  if (!URL.canParse(page)) return headers.get('sec-fetch-site') === 'same-origin'
  const { origin } = new URL(page)
  return [pool.issuer, ...client.redirectUris].some((uri) => new URL(uri).origin === origin)
}

/** An admin's session answers only what is known to be a page that they went to. Over plain HTTP browsers do not say. */
const mayAnswerSilently = (request: Request, { kind, issuer }: Pool): boolean =>
  kind === 'data' || issuer.startsWith('http:') || fetchContextOf(request) === 'navigation'
