import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { Site } from '#sites/site.ts'

import type { Departure, Leaving } from './departure.ts'
import type { Departures } from './departures.ts'
import type { Outcome } from './outcome.ts'
import type { Returning, Returns } from './returns.ts'

/** Sign-in with a provider, and adding one to an account: browsers go there and come back. */
export class Federation {
  readonly #departures: Departures
  readonly #returns: Returns

  constructor(deps: { departures: Departures; returns: Returns }) {
    this.#departures = deps.departures
    this.#returns = deps.returns
  }

  /** For `identity_provider=Google`, and for every request of the link client. */
  start(
    site: Site,
    request: AuthorizationRequest,
    leaving: Leaving,
    origin: RequestOrigin,
  ): Promise<Departure> {
    return this.#departures.start(site, request, leaving, origin)
  }

  /** What the provider's answer, which a browser brings, comes to. Each visit ends once. */
  finish(site: Site, pool: Pool, returning: Returning, origin: RequestOrigin): Promise<Outcome> {
    return this.#returns.finish(site, pool, returning, origin)
  }
}
