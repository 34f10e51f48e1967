import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { PoolPath } from '#http/path-params.ts'
import { type PoolHttpRequest, publicSite } from '#http/plugins/site.ts'
import { checkAuthorization } from '#identity/authorization/check-authorization.ts'

import { readFormFields } from './form-body.ts'
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
  const location = await context.signIns.resume(site, authorization, readSession(request, pool))
  if (location !== undefined) return seeOther(location)
  if (authorization.identityProvider) {
    return redirectToProvider(context, poolRequest, authorization)
  }
  return seeOther(`${new URL(pool.issuer).pathname}/login?${authorization.query}`)
}
