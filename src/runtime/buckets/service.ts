import { AppError } from '#base/app-error.ts'
import { ObjectFault } from '#platform/objects/object-fault.ts'
import { DEFAULT_CONTENT_TYPE, checkedOptions } from '#platform/objects/object-rules.ts'
import type { PlatformServices } from '#platform/services.ts'

import type { BucketAction, BucketAnswer } from './answers.ts'
import type { Bucket } from './bucket.ts'
import { getObject } from './get-object.ts'
import { DeleteInput, ListInput, PutInput, listedKeys, parseInput } from './inputs.ts'
import { presignGetObject, presignPutObject } from './presign-object.ts'
import type { BucketQuotas } from './quotas/service.ts'
import {
  bodyBytes,
  checkBucketKey,
  checkContentType,
  checkKeyPart,
  checkSize,
  normalizedMetadata,
} from './rules.ts'
import { bucketPrefix, storeKeyOf } from './store-key.ts'

interface BucketActionsDeps extends Pick<
  PlatformServices,
  'objects' | 'objectUrls' | 'pageTokens' | 'clock'
> {
  readonly quotas: BucketQuotas
}

/** What can be done with the objects of a bucket, for admins, presets and site code alike. */
export class Buckets {
  readonly #deps: BucketActionsDeps

  constructor(deps: BucketActionsDeps) {
    this.#deps = deps
  }

  /**
   * `input` is the action's JSON body. Throws `ValidationError`, `InvalidNextToken`, `ObjectNotFound`, `PayloadTooLarge`,
   * `PreconditionFailed`, `QuotaExceeded`, and `ResourceNotFound` when the bucket was deleted meanwhile. With a `holder`,
   * the caller whom upload URLs are given to, `TooManyRequests` when that one has too many of them.
   */
  async perform(
    bucket: Bucket,
    action: BucketAction,
    input: unknown,
    holder?: string,
  ): Promise<BucketAnswer> {
    switch (action) {
      case 'list-objects':
        return this.#list(bucket, input)
      case 'get-object':
        return getObject(this.#deps.objects, bucket, input)
      case 'put-object':
        return this.#put(bucket, input)
      case 'delete-object':
        return this.#delete(bucket, input)
      case 'presign-get-object':
        return presignGetObject(this.#deps.objects, bucket, input)
      case 'presign-put-object':
        return presignPutObject(this.#deps, bucket, input, holder)
      default:
        return action satisfies never
    }
  }

  async #list(bucket: Bucket, input: unknown): Promise<BucketAnswer<'list-objects'>> {
    const { objects, pageTokens } = this.#deps
    const parsed = parseInput(ListInput, input)
    const { prefix = '', delimiter = '', startAfter = '', nextToken } = parsed
    for (const [field, text] of Object.entries({ prefix, delimiter, startAfter })) {
      checkKeyPart(field, text)
    }
    const scope = ['list-objects', bucket.siteId, bucket.bucketId, prefix, delimiter]
    const root = bucketPrefix(bucket)
    const page = await objects.list({
      prefix: root + prefix,
      maxKeys: listedKeys(parsed),
      ...(delimiter !== '' && { delimiter }),
      ...(startAfter !== '' && { startAfter: root + startAfter }),
      ...(typeof nextToken === 'string' && { continuation: pageTokens.open(scope, nextToken) }),
    })
    return {
      items: page.objects.map(({ key, sizeBytes, lastModified, etag }) => ({
        key: key.slice(root.length),
        size: sizeBytes,
        lastModified: lastModified.toISOString(),
        etag,
      })),
      commonPrefixes: page.commonPrefixes.map((common) => common.slice(root.length)),
      isTruncated: page.continuation !== undefined,
      nextToken: pageTokens.seal(scope, page.continuation),
    }
  }

  async #put(bucket: Bucket, input: unknown): Promise<BucketAnswer<'put-object'>> {
    const { objects, quotas } = this.#deps
    const { key, body, encoding = 'utf8', ifNoneMatch, ...rest } = parseInput(PutInput, input)
    checkBucketKey(bucket, key, objects.bounds.keyBytes)
    const contentType =
      rest.contentType ?? (encoding === 'utf8' ? 'text/plain; charset=utf-8' : DEFAULT_CONTENT_TYPE)
    checkContentType(contentType)
    const described = checkedOptions({
      contentType,
      metadata: normalizedMetadata(rest.metadata ?? {}),
    })
    const bytes = bodyBytes(body, encoding)
    checkSize(bucket, bytes.length)
    const ref = { siteId: bucket.siteId, bucketId: bucket.bucketId, key }
    const put = () =>
      objects.put(storeKeyOf(ref), bytes, { ...described, ...(ifNoneMatch && { ifNoneMatch }) })
    const head = await quotas
      .write(ref, { sizeBytes: bytes.length }, put)
      .catch((error: unknown) => {
        throw asPrecondition(error, key)
      })
    return { ok: true, key, etag: head.etag, size: head.sizeBytes }
  }

  /** Deleting what is not there is fine. */
  async #delete(bucket: Bucket, input: unknown): Promise<BucketAnswer<'delete-object'>> {
    const { objects, quotas } = this.#deps
    const { key } = parseInput(DeleteInput, input)
    checkBucketKey(bucket, key, objects.bounds.keyBytes)
    const ref = { siteId: bucket.siteId, bucketId: bucket.bucketId, key }
    await quotas.remove(ref, () => objects.delete(storeKeyOf(ref)))
    return { ok: true, key }
  }
}

const asPrecondition = (error: unknown, key: string): unknown =>
  error instanceof ObjectFault && error.code === 'PreconditionFailed'
    ? new AppError('PreconditionFailed', `Object "${key}" exists already (ifNoneMatch "*")`)
    : error
