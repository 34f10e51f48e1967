import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { Site } from '#sites/site.ts'

import type { CallbackRequest, AuthorizationCallbacks } from './authorization-callbacks.ts'
import type { AuthorizationRedirect, BrowserCookies } from './authorization-redirect.ts'
import type { AuthorizationRedirects } from './authorization-redirects.ts'
import type { CallbackResult } from './callback-result.ts'

/** Sign-in with a provider, and adding one to an account: browsers go there and come back. */
export class Federation {
  readonly #departures: AuthorizationRedirects
  readonly #returns: AuthorizationCallbacks

  constructor(deps: { departures: AuthorizationRedirects; returns: AuthorizationCallbacks }) {
    this.#departures = deps.departures
    this.#returns = deps.returns
  }

  /** For `identity_provider=Google`, and for every request of the link client. */
  start(
    site: Site,
    request: AuthorizationRequest,
    leaving: BrowserCookies,
    origin: RequestOrigin,
  ): Promise<AuthorizationRedirect> {
    return this.#departures.start(site, request, leaving, origin)
  }

  /** What the provider's answer, which a browser brings, comes to. Each visit ends once. */
  finish(
    site: Site,
    pool: Pool,
    returning: CallbackRequest,
    origin: RequestOrigin,
  ): Promise<CallbackResult> {
    return this.#returns.finish(site, pool, returning, origin)
  }
}
