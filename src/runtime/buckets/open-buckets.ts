import type { PlatformServices } from '#platform/services.ts'

import { BucketTransfer } from './bucket-transfer.ts'
import { Buckets } from './buckets.ts'
import { BucketQuotas, type BucketQuotasDeps } from './quotas/bucket-quotas.ts'
import { selectBucketContents } from './quotas/object-queries.ts'
import { BucketRecount } from './quotas/recount.ts'
import { BucketUpkeep } from './quotas/upkeep.ts'
import { BucketRemoval } from './removal.ts'

/** So that a large site does not hold up the others. */
const WORKERS = 2

export interface BucketServices {
  readonly buckets: Buckets
  readonly bucketQuotas: BucketQuotas
  readonly bucketUpkeep: BucketUpkeep
  readonly bucketTransfer: BucketTransfer
  /** What the first `most` objects of a bucket come to. */
  readonly bucketContents: typeof selectBucketContents
  /** Removes what a deleted bucket held: in batches, and again without harm. */
  readonly dropBucket: (siteId: string, resourceId: string, signal: AbortSignal) => Promise<void>
}

/** Everything that buckets consist of, their upkeep behind its queue. */
export function openBuckets(
  deps: BucketQuotasDeps & Pick<PlatformServices, 'objects' | 'objectUrls' | 'pageTokens'>,
): BucketServices {
  const quotas = new BucketQuotas(deps)
  const recount = new BucketRecount({ ...deps, quotas })
  const bucketUpkeep = new BucketUpkeep({ ...deps, quotas, recount })
  const upkeep = bucketUpkeep.run.bind(bucketUpkeep)
  deps.queue.handle('bucket-upkeep', upkeep, { concurrency: WORKERS })
  const removal = new BucketRemoval(deps)
  return {
    buckets: new Buckets({ ...deps, quotas }),
    bucketQuotas: quotas,
    bucketUpkeep,
    bucketTransfer: new BucketTransfer(deps),
    bucketContents: selectBucketContents,
    dropBucket: (siteId, bucketId, signal) => removal.drop(siteId, bucketId, signal),
  }
}
