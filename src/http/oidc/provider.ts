import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { PoolPath } from '#http/path-params.ts'
import { type PoolPageRequest, pages } from '#http/plugins/pages.ts'
import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import type { CallbackResult } from '#identity/federation/authorization-callbacks.ts'
import type { LoginBinding } from '#identity/federation/authorization-redirects.ts'
import { loginIdOf } from '#identity/federation/login-states.ts'
import type { Pool } from '#identity/pools/model.ts'
import { t } from '#languages/message.ts'

import { type CookieScope, cookieOf, poolScope, setCookie } from './cookies.ts'
import { providerErrorPage } from './pages/provider-error-page.ts'
import { seeOther } from './see-other.ts'
import { readSession, sessionCookie } from './session-cookie.ts'
import { interactionOpener, locationOf } from './sign-in-form.ts'

/** Proves that the browser which opens a link's authorize URL is the one that requested the link. */
const LINK_COOKIE = 'croft_link'

/** Each sign-in has a cookie of its own, so that two tabs can be at the provider at once. */
const attemptCookieName = (loginId: string): string => `croft_visit_${loginId}`

/** Redirects the browser to the provider, for `/oauth2/authorize` with `identity_provider` or of the link client. */
export async function redirectToProvider(
  context: AppContext,
  { site, pool, origin, request: incoming }: PoolPageRequest,
  request: AuthorizationRequest,
): Promise<Response> {
  const { location, binding } = await context.authorizationRedirects.start(
    { site, origin, request },
    {
      sessionToken: readSession(incoming, pool),
      linkBinding: cookieOf(incoming, LINK_COOKIE, linkScope(pool)),
    },
  )
  return seeOther(location, binding ? [attemptCookie(pool, binding)] : [])
}

/** For the browser whose application requests a link; a browser on another origin ignores it. */
export const linkCookie = (
  pool: LinkPool,
  link: { readonly bindingToken: string; readonly expiresAt: Date },
): string =>
  setCookie(LINK_COOKIE, link.bindingToken, { ...linkScope(pool), expiresAt: link.expiresAt })

type LinkPool = Pick<Pool, 'issuer' | 'apiOrigin' | 'relyingPartyId'>

/** The site's origin sets it, and the issuer's reads it, which may be on a name below. */
function linkScope({ issuer, apiOrigin, relyingPartyId: domain }: LinkPool): CookieScope {
  const isApart = new URL(issuer).origin !== apiOrigin
  return { ...poolScope({ issuer }), ...(isApart && { domain }) }
}

const clearedAttemptCookie = (pool: Pick<Pool, 'issuer'>, loginId: string): string =>
  attemptCookie(pool, { loginId, token: '', expiresAt: new Date(0) })

/** The browser sends it to the callback alone. */
function attemptCookie(pool: Pick<Pool, 'issuer'>, binding: LoginBinding): string {
  const { path, ...rest } = poolScope(pool)
  const { expiresAt } = binding
  const scope = { ...rest, path: `${path}/oauth2/idpresponse`, expiresAt }
  return setCookie(attemptCookieName(binding.loginId), binding.token, scope)
}

/** The redirect URI for the provider. */
export const providerCallbackRoutes = (context: AppContext) => {
  const open = interactionOpener(context)
  return new Elysia({ prefix: '/oidc/:userPoolId/oauth2' }).use(pages(context)).get(
    '/idpresponse',
    async ({ poolRequest }) => {
      const { pool, request } = poolRequest
      const params = new URL(request.url).searchParams
      const result = await context.authorizationCallbacks.finish(poolRequest, {
        params,
        bindingOf: (loginId: string) =>
          cookieOf(request, attemptCookieName(loginId), poolScope(pool)),
        sessionToken: readSession(request, pool),
      })
      const cookies = [clearedAttemptCookie(pool, loginIdOf(params.get('state') ?? ''))]
      if (result.kind !== 'signed-in') return responseOf(result, poolRequest, cookies)
      const interaction = open(poolRequest, result.request, null)
      const session = sessionCookie(pool, result.session)
      const forms = result.next.kind === 'consent' ? interaction.csrf.cookies : []
      const all = [...cookies, ...forms, session]
      return seeOther(locationOf(interaction, result.next), all)
    },
    {
      poolPage: {
        open: 'Providers send browsers here; the visit’s cookie says whose it is',
        popups: true,
      },
      params: PoolPath,
    },
  )
}

function responseOf(
  result: Exclude<CallbackResult, { readonly kind: 'signed-in' }>,
  { site, language }: PoolPageRequest,
  cookies: readonly string[],
): Response {
  switch (result.kind) {
    case 'error-redirect':
      return seeOther(result.location, cookies)
    case 'refused':
      return providerErrorPage(
        { site, language: result.request.language ?? language },
        result.reason,
        { request: result.request, cookies },
      )
    case 'unknown-login':
      throw attemptNotFound()
  }
}

/** One wording for a sign-in that is unknown, over, expired, or another browser's. */
const attemptNotFound = (): AppError => new AppError('LinkExpired', t('error.google-ended'))
