import type { PlatformServices } from '#platform/services.ts'

import type { BucketQuotas } from './bucket-quotas.ts'
import type { BucketRecount } from './recount.ts'
import {
  type ReservationRow,
  selectExpired,
  selectLastExpiry,
  selectUnseen,
} from './reservation-queries.ts'
import { RECOUNT_MS, UPKEEP_MS } from './times.ts'
import { lockBucketUsage, selectBucketUsage, setUpkeep } from './usage-queries.ts'

const BATCH = 200
/** Objects that are looked for in one run, of those that a URL may have brought. */
const MAX_LOOKED_FOR = 2000

/**
 * The handler of the queue `bucket-upkeep`: settles uploads that came without passing here, ends reservations that have
 * expired, and once a day counts everything again. Plans its own next run while something is left to do.
 */
export class BucketUpkeep {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'queue' | 'clock'> & {
      readonly quotas: BucketQuotas
      readonly recount: BucketRecount
    },
  ) {
    this.#deps = deps
  }

  async run({ siteId }: { readonly siteId: string }, signal: AbortSignal): Promise<void> {
    await this.#endExpired(siteId, signal)
    await this.#lookForUploads(siteId, signal)
    const { database, recount } = this.#deps
    const usage = await database.withSite(siteId, selectBucketUsage)
    const due = usage && usage.recountedAt.getTime() + RECOUNT_MS <= this.#now()
    if (due && usage.touchedAt > usage.recountedAt) await recount.run(siteId, signal)
    await this.#planNext(siteId)
  }

  async #endExpired(siteId: string, signal: AbortSignal): Promise<void> {
    const { database, quotas, clock } = this.#deps
    for (;;) {
      const expired = await database.withSite(siteId, (tx) => selectExpired(tx, clock.now(), BATCH))
      for (const reservation of expired) {
        signal.throwIfAborted()
        const ref = { siteId, ...reservation }
        await quotas.settleFromStore(ref)
        await quotas.release(ref)
      }
      if (expired.length < BATCH) return
    }
  }

  async #lookForUploads(siteId: string, signal: AbortSignal): Promise<void> {
    const { database, quotas } = this.#deps
    let last: ReservationRow | undefined
    for (let seen = 0; seen < MAX_LOOKED_FOR; seen += BATCH) {
      const after = last?.reservationId ?? ''
      const open = await database.withSite(siteId, (tx) => selectUnseen(tx, after, BATCH))
      for (const reservation of open) {
        signal.throwIfAborted()
        await quotas.settleFromStore({ siteId, ...reservation })
      }
      last = open.at(-1)
      if (open.length < BATCH) return
    }
  }

  async #planNext(siteId: string): Promise<void> {
    const { database, queue } = this.#deps
    await database.withSite(siteId, async (tx) => {
      const usage = await lockBucketUsage(tx)
      if (!usage) return
      const now = this.#now()
      const open = (await selectLastExpiry(tx)) !== undefined
      const recountAt = usage.recountedAt.getTime() + RECOUNT_MS
      const changed = usage.touchedAt > usage.recountedAt
      const nextAt = open ? now + UPKEEP_MS : changed ? Math.max(recountAt, now + UPKEEP_MS) : null
      await setUpkeep(tx, nextAt === null ? null : new Date(nextAt))
      if (nextAt === null) return
      const startAfterSeconds = Math.ceil((nextAt - now) / 1000)
      const options = { singletonKey: siteId, startAfterSeconds }
      await queue.enqueue(tx, 'bucket-upkeep', { siteId }, options)
    })
  }

  readonly #now = (): number => this.#deps.clock.now().getTime()
}
