import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { publicSite } from '#http/plugins/site.ts'
import { checkAuthorization } from '#identity/authorization/check-authorization.ts'
import type { Site } from '#sites/site.ts'

import { readFormFields } from './form-body.ts'
import { authorizationErrorPage } from './pages/authorization-error-page.ts'
import { redirectToProvider } from './provider-redirect.ts'
import { seeOther } from './see-other.ts'
import { readSession } from './session-cookie.ts'

const PoolPath = Type.Object({ userPoolId: Type.String({ maxLength: 128 }) })
const OPEN = 'Where clients send browsers to sign in; a sign-in proves itself on the way'

/** RFC 6749 section 3.1; GET and POST alike, as OpenID Connect Core section 3.1.2.1 wants it. */
export const authorizeRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/oidc/:userPoolId/oauth2/authorize' })
    .use(publicSite(context))
    .get(
      '/',
      ({ site, params, request }) =>
        authorize(context, { site, ...params, request, asked: new URL(request.url).searchParams }),
      { open: OPEN, params: PoolPath },
    )
    .post(
      '/',
      async ({ site, params, request }) =>
        authorize(context, { site, ...params, request, asked: await readFormFields(request) }),
      { open: OPEN, params: PoolPath },
    )

interface Incoming {
  readonly site: Site
  readonly userPoolId: string
  readonly request: Request
  readonly asked: URLSearchParams
}

async function authorize(
  context: AppContext,
  { site, userPoolId, request, asked }: Incoming,
): Promise<Response> {
  const pool = await context.pools.byId(site, userPoolId)
  const check = checkAuthorization(pool, asked)
  if (check.kind === 'error-page') return authorizationErrorPage(site, check, request)
  if (check.kind === 'error-redirect') return seeOther(check.location)

  const authorization = check.request
  const location = await context.signIns.resume(site, authorization, readSession(request, pool))
  if (location !== undefined) return seeOther(location)
  if (authorization.identityProvider)
    return redirectToProvider(context, site, authorization, request)
  return seeOther(`${new URL(pool.issuer).pathname}/login?${authorization.query}`)
}
