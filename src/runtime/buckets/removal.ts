import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { PlatformServices } from '#platform/services.ts'

import { deleteUnreservedUsage } from './quotas/object-queries.ts'
import { selectLastExpiry } from './quotas/reservation-queries.ts'
import { UPKEEP_MS } from './quotas/times.ts'
import { addBucketUsage, lockBucket, lockBucketUsage } from './quotas/usage-queries.ts'
import { bucketPrefix, objectRefOf } from './store-key.ts'

const LIST_PAGE = 1000
const DELETES_AT_ONCE = 16
const LONGEST_WAIT_MS = 24 * 60 * 60_000

/** Takes away what a deleted bucket held. */
export class BucketRemoval {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'queue' | 'clock'> & {
      readonly objects: Pick<ObjectStore, 'list' | 'delete'>
    },
  ) {
    this.#deps = deps
  }

  /** In batches; running it again goes on. Comes back while an upload URL of the bucket still works. */
  async drop(siteId: string, bucketId: string, signal: AbortSignal): Promise<void> {
    const there = await this.#deps.database.withSite(siteId, (tx) => lockBucket(tx, bucketId))
    if (there) return
    let more = true
    while (more) more = await this.#dropPage(siteId, bucketId, signal)
    await this.#forget(siteId, bucketId, undefined)
    await this.#comeBack(siteId, bucketId)
  }

  /** Whether there may be another page. */
  async #dropPage(siteId: string, bucketId: string, signal: AbortSignal): Promise<boolean> {
    const { objects } = this.#deps
    const prefix = bucketPrefix({ siteId, bucketId })
    const page = await objects.list({ prefix, maxKeys: LIST_PAGE })
    for (let first = 0; first < page.objects.length; first += DELETES_AT_ONCE) {
      signal.throwIfAborted()
      const some = page.objects.slice(first, first + DELETES_AT_ONCE)
      await Promise.all(some.map(({ key }) => objects.delete(key)))
    }
    const last = page.objects.at(-1)
    if (last) await this.#forget(siteId, bucketId, objectRefOf(last.key)?.key)
    return page.continuation !== undefined
  }

  async #forget(siteId: string, bucketId: string, upTo: string | undefined): Promise<void> {
    await this.#deps.database.withSite(siteId, async (tx) => {
      const usage = await lockBucketUsage(tx)
      if (!usage) return
      const { objects, bytes } = await deleteUnreservedUsage(tx, bucketId, upTo)
      const gone = {
        usedBytes: -bytes,
        usedObjects: -objects,
        chargedBytes: -bytes,
        chargedObjects: -objects,
      }
      await addBucketUsage(tx, gone, String(BigInt(usage.version) + 1n))
    })
  }

  async #comeBack(siteId: string, bucketId: string): Promise<void> {
    const { database, queue, clock } = this.#deps
    await database.withSite(siteId, async (tx) => {
      const last = await selectLastExpiry(tx, bucketId)
      if (last === undefined) return
      const inMs = last.getTime() - clock.now().getTime()
      // Upkeep ends the reservations first.
      const waitMs = Math.min(Math.max(inMs, 0) + 2 * UPKEEP_MS, LONGEST_WAIT_MS)
      await queue.enqueue(
        tx,
        'resource-cleanup',
        { siteId, type: 's3Bucket', resourceId: bucketId },
        { singletonKey: bucketId, startAfterSeconds: Math.ceil(waitMs / 1000) },
      )
    })
  }
}
