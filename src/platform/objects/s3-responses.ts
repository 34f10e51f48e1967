import { type ListObjectsV2CommandOutput, S3ServiceException } from '@aws-sdk/client-s3'

import { AppError } from '#base/app-error.ts'
import { codeOf } from '#base/error-code.ts'

import { DEFAULT_CONTENT_TYPE } from './object-rules.ts'
import type { ObjectHead, ObjectList } from './object-store.ts'

/** What HEAD and GET have in common. */
interface Described {
  readonly ContentLength?: number | undefined
  /** `bytes 0-9/100` in the answer to a range. */
  readonly ContentRange?: string | undefined
  readonly ContentType?: string | undefined
  readonly ETag?: string | undefined
  readonly LastModified?: Date | undefined
  readonly Metadata?: Record<string, string> | undefined
}

export function s3ObjectHead(key: string, answer: Described): ObjectHead {
  const whole = answer.ContentRange?.split('/').at(1)
  return {
    key,
    sizeBytes: whole === undefined ? (answer.ContentLength ?? 0) : Number(whole),
    contentType: answer.ContentType ?? DEFAULT_CONTENT_TYPE,
    etag: answer.ETag ?? '',
    lastModified: answer.LastModified ?? new Date(0),
    metadata: answer.Metadata ?? {},
  }
}

export function s3ObjectList(answer: ListObjectsV2CommandOutput): ObjectList {
  const decode = answer.EncodingType === 'url' ? decodeKey : (key: string) => key
  return {
    objects: (answer.Contents ?? []).map(({ Key, Size, ETag, LastModified }) => ({
      key: decode(Key ?? ''),
      sizeBytes: Size ?? 0,
      etag: ETag ?? '',
      lastModified: LastModified ?? new Date(0),
    })),
    commonPrefixes: (answer.CommonPrefixes ?? []).map(({ Prefix }) => decode(Prefix ?? '')),
    continuation: answer.IsTruncated === true ? answer.NextContinuationToken : undefined,
  }
}

export const s3StatusOf = (error: unknown): number | undefined =>
  error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined

/** A bucket that is not there is a fault of the configuration, not a missing object. */
const isMissing = (error: unknown): boolean =>
  s3StatusOf(error) === 404 && error instanceof Error && error.name !== 'NoSuchBucket'

/** Undefined for an object that is not there. */
export const ifThere = <Answer>(answer: Promise<Answer>): Promise<Answer | undefined> =>
  answer.catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })

/** What S3 answers; `ServiceUnavailable` when it cannot be reached, or is not able to at the moment. */
export async function orUnavailable<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    throw isUnavailable(error) ? unavailable(error) : error
  }
}

/** Is true without a connection (errors of sockets have a code), without an answer in time, and for a server's own fault. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof AppError) return false
  const status = s3StatusOf(error)
  if (status !== undefined) return status >= 500 || status === 429
  return codeOf(error) !== undefined || (error instanceof Error && error.name === 'TimeoutError')
}

const unavailable = (cause: unknown): AppError =>
  new AppError('ServiceUnavailable', 'The object store does not answer: try again', {
    cause,
    retryAfterSeconds: 2,
  })

const decodeKey = (key: string): string => decodeURIComponent(key.replaceAll('+', ' '))
