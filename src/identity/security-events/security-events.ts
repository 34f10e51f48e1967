import { LRUCache } from 'lru-cache'

import type { Clock } from '#base/clock.ts'
import type { Ids } from '#base/ids.ts'
import { type PageRequest, type PageRows, pageRows } from '#base/page.ts'
import { TallyTable } from '#base/tally.ts'
import { POOL_KINDS } from '#identity/pool-kind.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'

import {
  KEPT_EVENTS,
  RETENTION_DAYS,
  SECURITY_EVENTS,
  type SecurityEvent,
  type SecurityEventFilter,
  type SecurityEventRecord,
} from './model.ts'
import { deleteOldEvents, insertEvent, selectEvents } from './queries.ts'

const RETENTION_MS = RETENTION_DAYS * 24 * 3600 * 1000
const SWEEP_EVERY_MS = 3600 * 1000
const SWEEP_BATCH = 2000
const REMEMBERED_SITES = 10_000

/** The audit trail of a site's accounts. */
export class SecurityEvents {
  /** What has happened since the start, here. */
  readonly counts = new TallyTable(POOL_KINDS, SECURITY_EVENTS)
  readonly #database: Database
  readonly #clock: Clock
  readonly #ids: Ids
  /** When each site was swept last by this process. */
  readonly #swept = new LRUCache<string, number>({ max: REMEMBERED_SITES })

  constructor(deps: { database: Database; clock: Clock; ids: Ids }) {
    this.#database = deps.database
    this.#clock = deps.clock
    this.#ids = deps.ids
  }

  /** In the transaction of what happened: there with it, or not at all. */
  async record(tx: SiteTx, event: SecurityEvent): Promise<void> {
    const at = this.#clock.now()
    await insertEvent(tx, event, { eventId: this.#ids.named('evt'), at })
    const { pool } = event
    if (pool !== undefined) tx.onCommit(() => this.counts.add(pool, event.event))
    await this.#sweep(tx, at.getTime())
  }

  /** For what changes nothing, like a refusal. */
  note(siteId: string, event: SecurityEvent): Promise<void> {
    return this.#database.withSite(siteId, (tx) => this.record(tx, event))
  }

  /** Newest first. */
  async list(
    siteId: string,
    filter: SecurityEventFilter,
    { limit, after }: PageRequest,
  ): Promise<PageRows<SecurityEventRecord>> {
    const place = after === undefined ? undefined : cursorOf(after)
    const rows = await this.#database.withSite(siteId, (tx) =>
      selectEvents(tx, filter, { limit: limit + 1, after: place }),
    )
    return pageRows(rows, limit, ({ at, eventId }) => `${at.toISOString()} ${eventId}`)
  }

  /** A writer to the trail keeps it short: once an hour, and again with the next event while there is more to do. */
  async #sweep(tx: SiteTx, nowMs: number): Promise<void> {
    if (nowMs - (this.#swept.get(tx.siteId) ?? 0) < SWEEP_EVERY_MS) return
    const deleted = await deleteOldEvents(tx, {
      before: new Date(nowMs - RETENTION_MS),
      kept: KEPT_EVENTS,
      batch: SWEEP_BATCH,
    })
    if (deleted < SWEEP_BATCH) tx.onCommit(() => this.#swept.set(tx.siteId, nowMs))
  }
}

/** Reads the position out of a page token, which only we can make. */
function cursorOf(key: string): { at: Date; eventId: string } {
  const [at = '', eventId = ''] = key.split(' ')
  return { at: new Date(at), eventId }
}
