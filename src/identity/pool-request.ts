import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { Site } from '#sites/site.ts'

/** A request to the sign-in of one pool, by whomever. */
export interface PoolRequest {
  readonly site: Site
  readonly pool: Pool
  readonly origin: RequestOrigin
}
