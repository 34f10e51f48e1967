import { AppError, notFound, invalid } from '#base/app-error.ts'
import {
  type RequestedRange,
  bytesInRange,
  isBackwards,
  parseRangeHeader,
} from '#base/byte-range.ts'
import { ObjectFault } from '#platform/objects/object-fault.ts'
import { DEFAULT_CONTENT_TYPE, checkedOptions } from '#platform/objects/object-rules.ts'
import type { ByteRange, ObjectStore, StoredObject } from '#platform/objects/object-store.ts'
import type { PlatformServices } from '#platform/services.ts'
import type { BucketQuotas } from '#runtime/buckets/quotas/bucket-quotas.ts'

import type { BucketAction, BucketAnswer } from './answers.ts'
import type { Bucket } from './bucket.ts'
import {
  DeleteInput,
  ListInput,
  PutInput,
  listedKeys,
  parseInput,
  GetInput,
  MAX_BODY_BYTES,
} from './inputs.ts'
import { presignGetObject, presignPutObject } from './presign-object.ts'
import {
  bodyBytes,
  checkBucketKey,
  checkContentType,
  checkKeyPart,
  checkSize,
  normalizedMetadata,
  objectTooLarge,
  encodedBody,
} from './rules.ts'
import { bucketPrefix, storeKeyOf } from './store-key.ts'

type Objects = Pick<ObjectStore, 'get' | 'head' | 'bounds'>

/** What can be done with the objects of a bucket, for admins, presets and site code. */
export class Buckets {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'objects' | 'objectUrls' | 'pageTokens' | 'clock'> & {
      readonly quotas: BucketQuotas
    },
  ) {
    this.#deps = deps
  }

  /**
   * `input` is the action's JSON body. Throws `ValidationError`, `InvalidNextToken`, `ObjectNotFound`, `PayloadTooLarge`,
   * `PreconditionFailed`, `QuotaExceeded`, and `ResourceNotFound` when the bucket has been deleted. With a `holder`, the caller
   * that gets upload URLs, `TooManyRequests` when it has too many of them.
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

async function getObject(
  objects: Objects,
  bucket: Bucket,
  input: unknown,
): Promise<BucketAnswer<'get-object'>> {
  const { key, encoding, range } = parseInput(GetInput, input)
  checkBucketKey(bucket, key, objects.bounds.keyBytes)
  const storeKey = storeKeyOf({ ...bucket, key })
  const { found, part } =
    range === undefined
      ? { found: await objects.get(storeKey), part: undefined }
      : await getRange(objects, storeKey, parseByteRange(range))
  if (!found) throw notFound('Object', key)
  const { head } = found
  const bytes = await readBody(found, part)
  return {
    key,
    ...encodedBody(bytes, head.contentType, encoding),
    contentType: head.contentType,
    size: head.sizeBytes,
    etag: head.etag,
    lastModified: head.lastModified.toISOString(),
    metadata: { ...head.metadata },
    ...(part && { contentRange: `bytes ${part.start}-${part.end}/${head.sizeBytes}` }),
  }
}

async function getRange(
  objects: Objects,
  storeKey: string,
  range: ReturnType<typeof parseByteRange>,
) {
  const head = await objects.head(storeKey)
  if (!head) return { found: undefined, part: undefined }
  const part = withinSize(range, head.sizeBytes)
  try {
    const found = await objects.get(storeKey, part)
    // The object may have been replaced since its head was read.
    return { found, part: found && withinSize(range, found.head.sizeBytes) }
  } catch (error) {
    if (error instanceof ObjectFault) throw unsatisfiable(head.sizeBytes)
    throw error
  }
}

async function readBody(
  { head, body }: StoredObject,
  part: Required<ByteRange> | undefined,
): Promise<Uint8Array> {
  const sizeBytes = part ? part.end - part.start + 1 : head.sizeBytes
  if (sizeBytes > MAX_BODY_BYTES) {
    await body.cancel()
    throw objectTooLarge(
      sizeBytes,
      'get it through a URL of presign-get-object, or ask for a range',
    )
  }
  return new Uint8Array(await new Response(body).arrayBuffer())
}

/** The range that a request names: in the object form, or in the words of HTTP's `Range` header. */
export function parseByteRange(
  input: string | { readonly start: number; readonly end?: number },
): RequestedRange {
  const range = typeof input === 'string' ? parseRangeHeader(input) : input
  if (!range) {
    throw invalid(
      'range',
      'must be like "bytes=0-1023", "bytes=1024-", "bytes=-512" or { start, end }',
    )
  }
  if (isBackwards(range)) throw invalid('range', 'must not end before it starts')
  return range
}

/** The bytes of an object of that size that are meant. Throws where there are none. */
export function withinSize(range: RequestedRange, sizeBytes: number): Required<ByteRange> {
  const bytes = bytesInRange(range, sizeBytes)
  if (!bytes) throw unsatisfiable(sizeBytes)
  return bytes
}

const unsatisfiable = (sizeBytes: number) =>
  invalid('range', `begins behind the end of the object, which has ${sizeBytes} bytes`)
