import { objectKey } from '#platform/objects/object-store.ts'

import type { ObjectRef } from './quotas/model.ts'

const BUCKETS = 'buckets'

/** What all keys of a bucket begin with in the object store. */
export const bucketPrefix = ({
  siteId,
  bucketId,
}: Pick<ObjectRef, 'siteId' | 'bucketId'>): string => objectKey(siteId, BUCKETS, bucketId, '')

/** Where an object of a bucket is. Its own key follows as it is: dots and slashes mean nothing to a store. */
export const storeKeyOf = (ref: ObjectRef): string => bucketPrefix(ref) + ref.key

/** The object of a bucket that a store's key means; undefined for keys of anything else. */
export function objectRefOf(storeKey: string): ObjectRef | undefined {
  const [sites, siteId, buckets, bucketId, ...key] = storeKey.split('/')
  if (sites !== 'sites' || buckets !== BUCKETS || !siteId || !bucketId || key.length === 0) {
    return undefined
  }
  return { siteId, bucketId, key: key.join('/') }
}
