import type { AppContext } from '#context'
import { originOf } from '#http/request-origin.ts'
import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import type { Site } from '#sites/site.ts'

import { cookieOf, setCookie } from './cookies.ts'
import { poolScope, readSession } from './session-cookie.ts'

/** Proves that the browser that opens a link's authorize URL is the one that asked for it. */
export const LINK_COOKIE = 'croft_link'

/** Named for the visit, so that two tabs can be at the provider at once. */
export const visitCookieName = (visitId: string): string => `croft_visit_${visitId}`

/** Sends the browser to the provider: the answer of `/oauth2/authorize` with `identity_provider`, or on the link client. */
export async function departure(
  context: AppContext,
  site: Site,
  authorization: AuthorizationRequest,
  incoming: Request,
): Promise<Response> {
  const { location, binding } = await context.federation.start(
    site,
    authorization,
    { sessionToken: readSession(incoming), linkBinding: cookieOf(incoming, LINK_COOKIE) },
    originOf(incoming),
  )
  const headers = new Headers({ location, 'cache-control': 'no-store' })
  if (binding) {
    const { visitId, token, expiresAt } = binding
    const scope = { ...poolScope(authorization.pool), expiresAt }
    headers.append('set-cookie', setCookie(visitCookieName(visitId), token, scope))
  }
  return new Response(null, { status: 302, headers })
}
