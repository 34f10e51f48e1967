import type { AppContext } from '#context'
import { originOf } from '#http/request-origin.ts'
import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import type { LoginBinding } from '#identity/federation/authorization-redirect.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

import { cookieOf, poolScope, setCookie } from './cookies.ts'
import { seeOther } from './see-other.ts'
import { readSession } from './session-cookie.ts'

/** Proves that the browser that opens a link's authorize URL is the one that asked for it. */
const LINK_COOKIE = 'croft_link'

/** Named for the visit, so that two tabs can be at the provider at once. */
export const attemptCookieName = (loginId: string): string => `croft_visit_${loginId}`

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

export const clearedAttemptCookie = (pool: Pick<Pool, 'issuer'>, loginId: string): string =>
  attemptCookie(pool, { loginId, token: '', expiresAt: new Date(0) })

/** Sent to the callback and nowhere else. */
function attemptCookie(pool: Pick<Pool, 'issuer'>, binding: LoginBinding): string {
  const { path, ...rest } = poolScope(pool)
  const { expiresAt } = binding
  const scope = { ...rest, path: `${path}/oauth2/idpresponse`, expiresAt }
  return setCookie(attemptCookieName(binding.loginId), binding.token, scope)
}
