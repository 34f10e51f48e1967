import { AppError } from '#base/app-error.ts'
import { ObjectFault } from '#platform/objects/object-fault.ts'
import { DEFAULT_CONTENT_TYPE, checkedOptions } from '#platform/objects/object-rules.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'

import type { PutAnswer } from './answers.ts'
import type { Bucket } from './bucket.ts'
import { PutInput, parseInput } from './inputs.ts'
import type { BucketQuotas } from './quotas/service.ts'
import {
  bodyBytes,
  checkContentType,
  checkObjectKey,
  checkSize,
  normalizedMetadata,
} from './rules.ts'
import { storeKeyOf } from './store-key.ts'

export interface PutDeps {
  readonly objects: Pick<ObjectStore, 'put' | 'bounds'>
  readonly accounts: BucketQuotas
}

export async function putObject(
  { objects, accounts }: PutDeps,
  bucket: Bucket,
  input: unknown,
): Promise<PutAnswer> {
  const { key, body, encoding = 'utf8', ifNoneMatch, ...rest } = parseInput(PutInput, input)
  checkObjectKey(bucket, key, objects.bounds.keyBytes)
  const contentType =
    rest.contentType ?? (encoding === 'utf8' ? 'text/plain; charset=utf-8' : DEFAULT_CONTENT_TYPE)
  checkContentType(contentType)
  const described = checkedOptions({
    contentType,
    metadata: normalizedMetadata(rest.metadata ?? {}),
  })
  const bytes = bodyBytes(body, encoding)
  checkSize(bucket, bytes.length)
  const spot = { siteId: bucket.siteId, bucketId: bucket.bucketId, key }
  const put = () =>
    objects.put(storeKeyOf(spot), bytes, { ...described, ...(ifNoneMatch && { ifNoneMatch }) })
  const head = await accounts
    .write(spot, { sizeBytes: bytes.length }, put)
    .catch((error: unknown) => {
      throw asPrecondition(error, key)
    })
  return { ok: true, key, etag: head.etag, size: head.sizeBytes }
}

const asPrecondition = (error: unknown, key: string): unknown =>
  error instanceof ObjectFault && error.code === 'PreconditionFailed'
    ? new AppError('PreconditionFailed', `Object "${key}" exists already (ifNoneMatch "*")`)
    : error
