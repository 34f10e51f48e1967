import type { PageTokens } from '#base/page.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { ObjectUrls } from '#platform/objects/object-urls.ts'

import { deleteObject } from './delete-object.ts'
import { getObject } from './get-object.ts'
import { listObjects } from './list-objects.ts'
import { presignGetObject, presignPutObject } from './presign-object.ts'
import { putObject } from './put-object.ts'
import { BucketRecount } from './quotas/recount.ts'
import { BucketQuotas, type BucketQuotasDeps } from './quotas/service.ts'
import { BucketUpkeep } from './quotas/upkeep.ts'
import { BucketRemoval } from './removal.ts'
import { Buckets } from './service.ts'
import { BucketUploads } from './uploads.ts'

/** So that a large site does not hold up the others. */
const WORKERS = 2

export interface BucketsDeps extends BucketQuotasDeps {
  readonly objects: ObjectStore
  readonly objectUrls: Pick<ObjectUrls, 'sign'>
  readonly pageTokens: PageTokens
}

export interface BucketServices {
  readonly buckets: Buckets
  readonly bucketQuotas: BucketQuotas
  readonly bucketUploads: BucketUploads
  readonly bucketUpkeep: BucketUpkeep
  /** Removes what a deleted bucket held: in batches, and again without harm. */
  readonly dropBucket: (siteId: string, resourceId: string, signal: AbortSignal) => Promise<void>
}

/** Everything that buckets consist of, their upkeep behind its queue. */
export function openBuckets(deps: BucketsDeps): BucketServices {
  const { objects } = deps
  const accounts = new BucketQuotas(deps)
  const means = { ...deps, accounts }
  const recount = new BucketRecount(means)
  const bucketUpkeep = new BucketUpkeep({ ...means, recount })
  const upkeep = bucketUpkeep.run.bind(bucketUpkeep)
  deps.queue.handle('bucket-upkeep', upkeep, { concurrency: WORKERS })
  const removal = new BucketRemoval(deps)
  return {
    buckets: new Buckets({
      'list-objects': (bucket, input) => listObjects(means, bucket, input),
      'get-object': (bucket, input) => getObject(objects, bucket, input),
      'put-object': (bucket, input) => putObject(means, bucket, input),
      'delete-object': (bucket, input) => deleteObject(means, bucket, input),
      'presign-get-object': (bucket, input) => presignGetObject(objects, bucket, input),
      'presign-put-object': (bucket, input, holder) =>
        presignPutObject(means, bucket, input, holder),
    }),
    bucketQuotas: accounts,
    bucketUploads: new BucketUploads(accounts),
    bucketUpkeep,
    dropBucket: (siteId, bucketId, signal) => removal.drop(siteId, bucketId, signal),
  }
}
