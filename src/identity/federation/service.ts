import type { AuthorizationRequest } from '#identity/authorization/authorization-request.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { Site } from '#sites/site.ts'

import type { Departure, Leaving } from './departure.ts'

/** Sign-in with a provider, and adding one to an account. */
export class Federation {
  /** For `identity_provider=Google`, and for every request of the link client. */
  async start(
    _site: Site,
    _request: AuthorizationRequest,
    _leaving: Leaving,
    _origin: RequestOrigin,
  ): Promise<Departure> {
    throw new Error('Not built yet')
  }
}
