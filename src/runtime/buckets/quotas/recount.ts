import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { PlatformServices } from '#platform/services.ts'
import { bucketPrefix, storeKeyOf } from '#runtime/buckets/store-key.ts'

import type { BucketQuotas } from './bucket-quotas.ts'
import { selectBucketsWithUsage, selectSizes } from './object-queries.ts'
import { selectBucketUsage, setRecount } from './usage-queries.ts'

const LIST_PAGE = 1000
const ACCOUNT_PAGE = 5000

const Place = Type.Object({ bucketId: Type.String(), key: Type.String() })
type Place = Static<typeof Place>

/** Holds what a site's quotas say against what its object store holds, in key order, while both are in use. */
export class BucketRecount {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly objects: Pick<ObjectStore, 'list'>
      readonly quotas: BucketQuotas
    },
  ) {
    this.#deps = deps
  }

  /** Goes on where an interrupted recount stopped. */
  async run(siteId: string, signal: AbortSignal): Promise<void> {
    const { database, clock } = this.#deps
    const startedAt = clock.now()
    const { buckets, from } = await database.withSite(siteId, async (tx) => {
      const after = (await selectBucketUsage(tx))?.recountAfter
      return {
        buckets: await selectBucketsWithUsage(tx),
        from: Value.Check(Place, after) ? after : undefined,
      }
    })
    for (const bucketId of buckets) {
      if (from !== undefined && bucketId < from.bucketId) continue
      let place: Place | undefined = {
        bucketId,
        key: from?.bucketId === bucketId ? from.key : '',
      }
      while (place !== undefined) {
        signal.throwIfAborted()
        place = await this.#page(siteId, place)
      }
    }
    await database.withSite(siteId, (tx) => setRecount(tx, { doneAt: startedAt }))
  }

  /** The place behind one page, or undefined at the end of the bucket. */
  async #page(siteId: string, place: Place): Promise<Place | undefined> {
    const { bucketId } = place
    const stored = await this.#stored(siteId, place)
    const counted = await this.#deps.database.withSite(siteId, (tx) =>
      selectSizes(tx, bucketId, { after: place.key, upTo: stored.upTo, limit: ACCOUNT_PAGE }),
    )
    const cut = counted.size < ACCOUNT_PAGE ? undefined : [...counted.keys()].at(-1)
    const upTo = cut ?? stored.upTo
    for (const key of differences(stored.sizes, counted)) {
      if (upTo === undefined || !isBehind(key, upTo)) {
        await this.#deps.quotas.settleFromStore({ siteId, bucketId, key })
      }
    }
    if (upTo === undefined) return undefined
    const next = { bucketId, key: upTo }
    await this.#deps.database.withSite(siteId, (tx) => setRecount(tx, { after: next }))
    return next
  }

  async #stored(siteId: string, { bucketId, key }: Place) {
    const prefix = bucketPrefix({ siteId, bucketId })
    const { objects, continuation } = await this.#deps.objects.list({
      prefix,
      maxKeys: LIST_PAGE,
      ...(key !== '' && { startAfter: storeKeyOf({ siteId, bucketId, key }) }),
    })
    const sizes = new Map(
      objects.map((object) => [object.key.slice(prefix.length), object.sizeBytes] as const),
    )
    const upTo = continuation === undefined ? undefined : [...sizes.keys()].at(-1)
    return { sizes, upTo }
  }
}

function differences(
  stored: ReadonlyMap<string, number>,
  counted: ReadonlyMap<string, number>,
): string[] {
  const changed = [...stored].filter(([key, size]) => counted.get(key) !== size)
  const gone = [...counted.keys()].filter((key) => !stored.has(key))
  return [...changed.map(([key]) => key), ...gone]
}

const isBehind = (key: string, place: string): boolean =>
  Buffer.from(key).compare(Buffer.from(place)) > 0
