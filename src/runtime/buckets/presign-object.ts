import type { Static } from '@sinclair/typebox'

import { AppError, invalid } from '#base/app-error.ts'
import { MAX_SERVICE_PUT_BYTES, urlExpiry as expiryAfter } from '#platform/objects/object-rules.ts'
import type { ObjectStore, PresignedRequest } from '#platform/objects/object-store.ts'
import type { PlatformServices } from '#platform/services.ts'

import type { BucketAnswer } from './answers.ts'
import type { Bucket } from './bucket.ts'
import { PresignGetInput, PresignPutInput, expiresInSecondsOf, parseInput } from './inputs.ts'
import type { BucketQuotas } from './quotas/bucket-quotas.ts'
import { checkContentType, checkBucketKey, checkSize } from './rules.ts'
import { storeKeyOf } from './store-key.ts'

type PresignAnswer = BucketAnswer<'presign-get-object'>
type Objects = Pick<ObjectStore, 'presignGet' | 'presignPut' | 'bounds'>

/** Says nothing of whether the object exists: the URL does, when it is used. */
export async function presignGetObject(
  objects: Objects,
  bucket: Bucket,
  input: unknown,
): Promise<PresignAnswer> {
  const asked = parseInput(PresignGetInput, input)
  const { key, downloadName } = asked
  checkBucketKey(bucket, key, objects.bounds.keyBytes)
  if (downloadName !== undefined && !isFileName(downloadName)) {
    throw invalid('downloadName', 'must be valid Unicode without control characters')
  }
  const signed = await objects.presignGet(storeKeyOf({ ...bucket, key }), {
    expiresInSeconds: expiresInSecondsOf(asked),
    ...(downloadName !== undefined && { downloadName }),
  })
  return answer(signed)
}

interface PresignDeps extends Pick<PlatformServices, 'objectUrls' | 'clock'> {
  readonly objects: Objects
  readonly quotas: BucketQuotas
}

/** The URL takes this type and exactly this many bytes, where they are said, as often as it is used until it expires. */
export async function presignPutObject(
  deps: PresignDeps,
  bucket: Bucket,
  input: unknown,
  holder?: string,
): Promise<PresignAnswer> {
  const { objects, quotas } = deps
  const asked = parseInput(PresignPutInput, input)
  const { key, contentType, sizeBytes } = asked
  checkBucketKey(bucket, key, objects.bounds.keyBytes)
  if (contentType !== undefined) checkContentType(contentType)
  const ref = { siteId: bucket.siteId, bucketId: bucket.bucketId, key }
  const held = holder === undefined ? {} : { holder }
  const signed = await (sizeBytes === undefined
    ? signOpen(deps, bucket, { ...asked, ...held })
    : signExact(objects, bucket, { ...asked, sizeBytes }))
  // The URL is not given out before there is room for what it is known to bring.
  await quotas.reserveUpload(ref, {
    sizeBytes: sizeBytes ?? 0,
    urlExpiresAt: signed.expiresAt,
    ...held,
  })
  return answer(signed)
}

type AskedPut = Static<typeof PresignPutInput>

function signExact(
  objects: Objects,
  bucket: Bucket,
  asked: AskedPut & { readonly sizeBytes: number },
): Promise<PresignedRequest> {
  const { sizeBytes, contentType } = asked
  checkSize(bucket, sizeBytes)
  if (sizeBytes > objects.bounds.urlPutBytes) throw tooLarge(sizeBytes, objects.bounds.urlPutBytes)
  return objects.presignPut(storeKeyOf({ ...bucket, key: asked.key }), {
    expiresInSeconds: expiresInSecondsOf(asked),
    ...(contentType === undefined ? {} : { contentType }),
    sizeBytes,
  })
}

/** Leads to the service wherever the objects are: S3 would take any length, and the room for it is reserved when it comes. */
function signOpen(
  { objectUrls, clock }: PresignDeps,
  bucket: Bucket,
  asked: AskedPut & { readonly holder?: string },
): Promise<PresignedRequest> {
  const { contentType, holder } = asked
  return objectUrls.sign({
    method: 'PUT',
    key: storeKeyOf({ ...bucket, key: asked.key }),
    expiresAt: expiryAfter(clock.now(), expiresInSecondsOf(asked)),
    maxBytes: Math.min(
      bucket.config.maxObjectBytes ?? MAX_SERVICE_PUT_BYTES,
      MAX_SERVICE_PUT_BYTES,
    ),
    ...(contentType === undefined ? {} : { contentType }),
    ...(holder === undefined ? {} : { holder }),
  })
}

const answer = ({ method, url, headers, expiresAt }: PresignedRequest): PresignAnswer => ({
  method,
  url,
  headers: { ...headers },
  expiresAt: expiresAt.toISOString(),
})

const isFileName = (name: string): boolean => name.isWellFormed() && !/\p{Cc}/u.test(name)

const tooLarge = (sizeBytes: number, limitBytes: number): AppError =>
  new AppError(
    'PayloadTooLarge',
    `sizeBytes: an upload URL takes at most ${limitBytes} bytes, not ${sizeBytes}`,
    { fields: { limitBytes, sizeBytes } },
  )
