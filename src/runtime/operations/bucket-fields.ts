import type { BucketAction } from '#runtime/buckets/bucket.ts'
import { type FieldRule, isObject, text, upTo } from '#runtime/tables/plain/field-rules.ts'

/** More do not fit into the bytes that metadata may have. */
const MAX_METADATA = 1024

const number: FieldRule = (value) => (typeof value === 'number' ? undefined : 'must be a number')
const range: FieldRule = (value) =>
  typeof value === 'string' || isObject(value) ? undefined : 'must be a range'
const entries = upTo(MAX_METADATA)
const texts: FieldRule = (value) =>
  entries(value) ??
  (isObject(value) && Object.values(value).every((item) => typeof item === 'string')
    ? undefined
    : 'must be a JSON object of strings')

/** The fields of each action's input. Their bounds are the action's own business. */
export const BUCKET_FIELDS = {
  'list-objects': {
    prefix: text,
    delimiter: text,
    maxKeys: number,
    startAfter: text,
    nextToken: text,
  },
  'get-object': { key: text, encoding: text, range },
  'put-object': {
    key: text,
    body: text,
    encoding: text,
    contentType: text,
    metadata: texts,
    ifNoneMatch: text,
  },
  'delete-object': { key: text },
  'presign-get-object': { key: text, expiresInSeconds: number, downloadName: text },
  'presign-put-object': {
    key: text,
    contentType: text,
    sizeBytes: number,
    expiresInSeconds: number,
  },
} as const satisfies Record<BucketAction, Record<string, FieldRule>>
