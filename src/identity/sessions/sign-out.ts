import type { Pool } from '#identity/pools/model.ts'
import type { RequestOrigin } from '#identity/request-origin.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

export interface SignOutOptions {
  /** Of a session or of a token's family (`origin_jti`): the one sign-in that goes on. */
  readonly sessionId?: string | undefined
  readonly actor?: string | undefined
  readonly origin?: RequestOrigin | undefined
}

export class SignOut {
  /** Ends every sign-in of a user, with its tokens and codes, when the transaction commits; on all replicas. */
  async everywhere(
    _tx: SiteTx,
    _pool: Pick<Pool, 'userPoolId' | 'kind'>,
    _sub: string,
    _keep: SignOutOptions = {},
  ): Promise<void> {
    throw new Error('Not built yet')
  }
}
