import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { Site } from '#sites/site.ts'

import type { Session, SessionView } from './model.ts'

/** Who ended a session that is not their own, or from where. */
export interface Ending {
  readonly actor?: string | undefined
  readonly origin?: RequestOrigin | undefined
}

/** The sign-ins of a pool's users. */
export class Sessions {
  /** The session that the cookie's token belongs to, while it is good. */
  async find(_site: Site, _pool: Pool, _token: string | undefined): Promise<Session | undefined> {
    throw new Error('Not built yet')
  }

  /** Newest first; at most 100. */
  async list(_site: Site, _pool: Pool, _sub: string): Promise<readonly SessionView[]> {
    throw new Error('Not built yet')
  }

  /** Ends one of a user's sign-ins with every token that came of it; 404 `SessionNotFound`. */
  async revoke(
    _site: Site,
    _pool: Pool,
    _session: { readonly sub: string; readonly sessionId: string },
    _ending: Ending = {},
  ): Promise<void> {
    throw new Error('Not built yet')
  }

  /** Signs the browser out; nothing happens when it was not signed in. */
  async end(_site: Site, _pool: Pool, _token: string, _origin: RequestOrigin): Promise<void> {
    throw new Error('Not built yet')
  }
}
