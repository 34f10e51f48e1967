import type { Static, TObject } from '@sinclair/typebox'

import type { Clock } from '#base/clock.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import { ExpiringSeal } from '#platform/seal/expiring-seal.ts'
import type { Sealer } from '#platform/seal/sealer.ts'

/** As long as Cognito's own by default. */
export const SESSION_MS = 3 * 60_000
const MAX_LENGTH = 2048

/** What a client holds as `Session` between two steps: nothing is stored, and any replica goes on. */
export class SessionSeal<Fields extends TObject> {
  readonly #seal: ExpiringSeal<Fields>

  constructor(
    { sealer, clock }: { readonly sealer: Pick<Sealer, 'derive'>; readonly clock: Clock },
    purpose: string,
    fields: Fields,
  ) {
    const key = sealer.derive(purpose)
    const bounds = { lifetimeMs: SESSION_MS, maxLength: MAX_LENGTH }
    this.#seal = new ExpiringSeal({ key, clock, fields, ...bounds })
  }

  seal(call: PoolRequest, session: Static<Fields>): string {
    return this.#seal.seal(poolContext(call), session)
  }

  /** Undefined for a session of another pool, and for one that was changed or has expired. */
  open(call: PoolRequest, sealed: string): Static<Fields> | undefined {
    return this.#seal.open(poolContext(call), sealed)
  }
}

/** The pool that what is sealed or signed is for. */
export const poolContext = ({ site, pool }: PoolRequest): string =>
  `${site.siteId} ${pool.userPoolId}`
