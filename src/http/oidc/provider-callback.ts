import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { publicSite } from '#http/plugins/site.ts'
import { originOf } from '#http/request-origin.ts'
import type { CallbackResult } from '#identity/federation/authorization-callbacks.ts'
import { loginIdOf } from '#identity/federation/login-states.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

import { cookieOf, poolScope } from './cookies.ts'
import { providerErrorPage } from './pages/provider-error-page.ts'
import { clearedAttemptCookie, attemptCookieName } from './provider-redirect.ts'
import { seeOther } from './see-other.ts'
import { readSession, sessionCookie } from './session-cookie.ts'

const PoolPath = Type.Object({ userPoolId: Type.String({ maxLength: 128 }) })

/** Where a provider sends the browser back to. */
export const providerCallbackRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/oidc/:userPoolId/oauth2' }).use(publicSite(context)).get(
    '/idpresponse',
    async ({ site, params, request }) => {
      const pool = await context.pools.byId(site, params.userPoolId)
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
    { open: 'Providers send browsers here; the visit’s cookie says whose it is', params: PoolPath },
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
