import type { Pool } from '#identity/pools/model.ts'

import type { AuthorizationCheck } from './authorization-request.ts'

/** Whether the parameters of `/oauth2/authorize`, or of the pages that carry them on, are a request that may be served. */
export function checkAuthorization(_pool: Pool, _params: URLSearchParams): AuthorizationCheck {
  return { kind: 'refused-here', error: 'server_error', description: 'Not built yet' }
}
