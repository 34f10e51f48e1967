import type { RequestOrigin } from '#base/request-origin.ts'
import type { Pool } from '#identity/pools/model.ts'
import type { Site } from '#sites/site.ts'

/** A browser at the hosted pages, as far as its cookies tell. */
export interface KnownDevice {
  /** As long as it keeps the cookie of its forms; tells nothing. */
  readonly id: string
  /** Its own name for an account that has signed in there before. */
  knownAs(email: string): string | undefined
}

/** A request to the sign-in of one pool, signed in or not. */
export interface PoolRequest {
  readonly site: Site
  readonly pool: Pool
  readonly origin: RequestOrigin
  /** Of requests that come from the pages. */
  readonly browser?: KnownDevice
}
