import { AppError, invalid } from '#base/app-error.ts'
import type { ObjectStore, PresignedRequest } from '#platform/objects/object-store.ts'

import type { BucketAccounts } from './accounts/service.ts'
import type { PresignAnswer } from './answers.ts'
import type { Bucket } from './bucket.ts'
import { PresignGetInput, PresignPutInput, expiryOf, parseInput } from './inputs.ts'
import { checkContentType, checkKey, checkSize } from './rules.ts'
import { storeKeyOf } from './store-key.ts'

type Objects = Pick<ObjectStore, 'presignGet' | 'presignPut' | 'bounds'>

/** Says nothing of whether the object exists: the URL does, when it is used. */
export async function presignGetObject(
  objects: Objects,
  bucket: Bucket,
  input: unknown,
): Promise<PresignAnswer> {
  const asked = parseInput(PresignGetInput, input)
  const { key, downloadName } = asked
  checkKey(bucket, key, objects.bounds.keyBytes)
  if (downloadName !== undefined && !isFileName(downloadName)) {
    throw invalid('downloadName', 'must be valid Unicode without control characters')
  }
  const signed = await objects.presignGet(storeKeyOf({ ...bucket, key }), {
    expiresInSeconds: expiryOf(asked),
    ...(downloadName !== undefined && { downloadName }),
  })
  return answer(signed)
}

/** The URL takes this type and exactly this many bytes, as often as it is used until it expires. */
export async function presignPutObject(
  { objects, accounts }: { readonly objects: Objects; readonly accounts: BucketAccounts },
  bucket: Bucket,
  input: unknown,
  holder?: string,
): Promise<PresignAnswer> {
  const asked = parseInput(PresignPutInput, input)
  const { key, contentType, sizeBytes } = asked
  checkKey(bucket, key, objects.bounds.keyBytes)
  checkContentType(contentType)
  checkSize(bucket, sizeBytes)
  if (sizeBytes > objects.bounds.urlPutBytes) throw tooLarge(sizeBytes, objects.bounds.urlPutBytes)
  const spot = { siteId: bucket.siteId, bucketId: bucket.bucketId, key }
  const signed = await objects.presignPut(storeKeyOf(spot), {
    expiresInSeconds: expiryOf(asked),
    contentType,
    sizeBytes,
  })
  // The URL is not given out before there is room for what it brings.
  await accounts.promise(spot, {
    sizeBytes,
    urlExpiresAt: signed.expiresAt,
    ...(holder !== undefined && { holder }),
  })
  return answer(signed)
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
