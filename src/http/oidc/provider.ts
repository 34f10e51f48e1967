import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { PoolPath } from '#http/path-params.ts'
import { publicSite } from '#http/plugins/site.ts'
import { originOf } from '#http/request-origin.ts'
import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import type { CallbackResult } from '#identity/federation/authorization-callbacks.ts'
import type { LoginBinding } from '#identity/federation/authorization-redirect.ts'
import { loginIdOf } from '#identity/federation/login-states.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

import { cookieOf, poolScope, setCookie } from './cookies.ts'
import { providerErrorPage } from './pages/provider-error-page.ts'
import { seeOther } from './see-other.ts'
import { readSession, sessionCookie } from './session-cookie.ts'

/** Proves that the browser that opens a link's authorize URL is the one that asked for it. */
const LINK_COOKIE = 'croft_link'

/** Named for the visit, so that two tabs can be at the provider at once. */
const attemptCookieName = (loginId: string): string => `croft_visit_${loginId}`

/** Sends the browser to the provider: the answer of `/oauth2/authorize` with `identity_provider`, or on the link client. */
export async function redirectToProvider(
  context: AppContext,
  site: Site,
  authorization: AuthorizationRequest,
  incoming: Request,
): Promise<Response> {
  const { location, binding } = await context.authorizationRedirects.start(
    site,
    authorization,
    {
      sessionToken: readSession(incoming, authorization.pool),
      linkBinding: cookieOf(incoming, LINK_COOKIE, poolScope(authorization.pool)),
    },
    originOf(incoming),
  )
  return seeOther(location, binding ? [attemptCookie(authorization.pool, binding)] : [])
}

/** For the browser whose application asks to link; one of another origin ignores it. */
export const linkCookie = (
  pool: Pick<Pool, 'issuer'>,
  link: { readonly bindingToken: string; readonly expiresAt: Date },
): string =>
  setCookie(LINK_COOKIE, link.bindingToken, { ...poolScope(pool), expiresAt: link.expiresAt })

const clearedAttemptCookie = (pool: Pick<Pool, 'issuer'>, loginId: string): string =>
  attemptCookie(pool, { loginId, token: '', expiresAt: new Date(0) })

/** Sent to the callback and nowhere else. */
function attemptCookie(pool: Pick<Pool, 'issuer'>, binding: LoginBinding): string {
  const { path, ...rest } = poolScope(pool)
  const { expiresAt } = binding
  const scope = { ...rest, path: `${path}/oauth2/idpresponse`, expiresAt }
  return setCookie(attemptCookieName(binding.loginId), binding.token, scope)
}

/** Where a provider sends the browser back to. */
export const providerCallbackRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/oidc/:userPoolId/oauth2' }).use(publicSite(context)).get(
    '/idpresponse',
    async ({ site, pool, request }) => {
      const answer = new URL(request.url).searchParams
      const returning = {
        params: answer,
        bindingOf: (loginId: string) =>
          cookieOf(request, attemptCookieName(loginId), poolScope(pool)),
        sessionToken: readSession(request, pool),
      }
      const outcome = await context.authorizationCallbacks.finish(
        site,
        pool,
        returning,
        originOf(request),
      )
      const cookies = [clearedAttemptCookie(pool, loginIdOf(answer.get('state') ?? ''))]
      return responseOf(outcome, { site, pool, cookies })
    },
    {
      openPool: 'Providers send browsers here; the visit’s cookie says whose it is',
      params: PoolPath,
    },
  )

interface Ending {
  readonly site: Site
  readonly pool: Pool
  readonly cookies: readonly string[]
}

function responseOf(outcome: CallbackResult, { site, pool, cookies }: Ending): Response {
  switch (outcome.kind) {
    case 'signed-in':
      return seeOther(outcome.location, [...cookies, sessionCookie(pool, outcome.session)])
    case 'error-redirect':
      return seeOther(outcome.location, cookies)
    case 'refused':
      return providerErrorPage(site, outcome.reason, { request: outcome.request, cookies })
    case 'unknown-login':
      throw attemptNotFound()
  }
}

/** One wording for unknown, used, expired and another browser's. */
const attemptNotFound = (): AppError =>
  new AppError(
    'LinkExpired',
    'This sign-in with Google has ended, or was begun in another browser. Go back to where you came from and begin again.',
  )
