import { setImmediate as untilIdle, setTimeout as delay } from 'node:timers/promises'

import { SingleFlight } from '#base/single-flight.ts'
import { withTimeout } from '#base/with-timeout.ts'
import type { PlatformServices } from '#platform/services.ts'

import {
  beginCount,
  countBatch,
  endRecountPlan,
  type LastRecount,
  markChanged,
  planRecount,
  selectTableUsage,
} from './ledger-queries.ts'

/** Items that one statement counts. */
const ITEMS_AT_ONCE = 5000
/** How long somebody waits for a count. */
const PATIENCE_MS = 2000
/** From one count that somebody waits for to the next: so long, and twenty times as long as it took. */
const REST_MS = 1000
/** After one that may have said too much. */
const SHORT_REST_MS = 100
const REST_FACTOR = 20
const RECOUNT_SECONDS = 24 * 3600

/** Counts what the tables of a site hold, in steps, while they are in use. */
export class TableRecounts {
  readonly #deps
  readonly #flights = new SingleFlight<string, void>()
  readonly #stop = new AbortController()

  constructor(deps: Pick<PlatformServices, 'database' | 'queue' | 'logger'>) {
    this.#deps = deps
  }

  /** Goes on where a count that was interrupted stopped. */
  async run(siteId: string, signal: AbortSignal): Promise<void> {
    const { database } = this.#deps
    await beginCount(database, siteId)
    for (;;) {
      signal.throwIfAborted()
      if (await countBatch(database, siteId, ITEMS_AT_ONCE)) return
      await untilIdle()
    }
  }

  /**
   * Counts anew for somebody who waits. `recent`: it was counted just now. `counting`: that takes longer than anybody should
   * wait, and goes on.
   */
  async renew(siteId: string, last: LastRecount): Promise<'counted' | 'recent' | 'counting'> {
    const rest = restOf(last)
    if (rest > (last.countedAlone ? 0 : SHORT_REST_MS)) return 'recent'
    if (rest > 0) await delay(rest)
    return withTimeout(this.begin(siteId), PATIENCE_MS, () => 'counting' as const)
  }

  /** Never fails: what went wrong is logged, and the count is finished by somebody else. */
  async begin(siteId: string): Promise<'counted' | 'counting'> {
    try {
      await this.#flights.run(siteId, () => this.run(siteId, this.#stop.signal))
      return 'counted'
    } catch (error) {
      if (!this.#stop.signal.aborted) {
        this.#deps.logger.warn({ siteId, err: error }, 'the tables of a site were not counted')
      }
      return 'counting'
    }
  }

  /** The handler of the queue `table-recount`: once a day, on sites where something is written. */
  async daily({ siteId }: { readonly siteId: string }, signal: AbortSignal): Promise<void> {
    const { database } = this.#deps
    const usage = await database.withSite(siteId, selectTableUsage)
    if (usage?.isStale) await this.run(siteId, signal)
    await database.withSite(siteId, endRecountPlan)
  }

  async plan(siteId: string): Promise<void> {
    const { database, queue } = this.#deps
    await database.withSite(siteId, async (tx) => {
      if (!(await planRecount(tx, RECOUNT_SECONDS))) return
      const options = { singletonKey: siteId, startAfterSeconds: RECOUNT_SECONDS }
      await queue.enqueue(tx, 'table-recount', { siteId }, options)
    })
  }

  /** Items went away that no write removed. */
  async changed(siteId: string): Promise<void> {
    await this.#deps.database.withSite(siteId, markChanged)
  }

  stop(): void {
    this.#stop.abort()
  }
}

/** Milliseconds until the site may be counted again. */
function restOf({ countTookMs, countedAgoMs, countedAlone }: LastRecount): number {
  if (countTookMs === null || countedAgoMs === null) return 0
  const rest = countedAlone ? REST_MS : SHORT_REST_MS
  return Math.max(rest, REST_FACTOR * countTookMs) - countedAgoMs
}
