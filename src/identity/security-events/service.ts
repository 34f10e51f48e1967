import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'

import type { SecurityEvent } from './model.ts'
import { insertEvent } from './queries.ts'

/** The audit trail of a site's accounts. */
export class SecurityEvents {
  readonly #database: Database
  readonly #clock: Clock
  readonly #ids: Ids

  constructor(deps: { database: Database; clock: Clock; ids: Ids }) {
    this.#database = deps.database
    this.#clock = deps.clock
    this.#ids = deps.ids
  }

  /** In the transaction of what happened: there with it, or not at all. */
  record(tx: SiteTx, event: SecurityEvent): Promise<void> {
    return insertEvent(tx, event, { eventId: this.#ids.named('evt'), at: this.#clock.now() })
  }

  /** For what changes nothing, like a refusal. */
  note(siteId: string, event: SecurityEvent): Promise<void> {
    return this.#database.withSite(siteId, (tx) => this.record(tx, event))
  }
}
