import type { ObjectStore } from '#platform/objects/object-store.ts'

import type { DeleteAnswer } from './answers.ts'
import type { Bucket } from './bucket.ts'
import { DeleteInput, parseInput } from './inputs.ts'
import type { BucketQuotas } from './quotas/service.ts'
import { checkObjectKey } from './rules.ts'
import { storeKeyOf } from './store-key.ts'

export interface DeleteDeps {
  readonly objects: Pick<ObjectStore, 'delete' | 'bounds'>
  readonly accounts: BucketQuotas
}

/** Deleting what is not there is fine. */
export async function deleteObject(
  { objects, accounts }: DeleteDeps,
  bucket: Bucket,
  input: unknown,
): Promise<DeleteAnswer> {
  const { key } = parseInput(DeleteInput, input)
  checkObjectKey(bucket, key, objects.bounds.keyBytes)
  const spot = { siteId: bucket.siteId, bucketId: bucket.bucketId, key }
  await accounts.remove(spot, () => objects.delete(storeKeyOf(spot)))
  return { ok: true, key }
}
