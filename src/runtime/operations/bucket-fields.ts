import { isJsonObject } from '#base/json-object.ts'
import type { BucketAction } from '#runtime/buckets/answers.ts'
import { type FieldRule, textRule, boundedObjectRule } from '#runtime/tables/api/field-rules.ts'

/** More do not fit into the bytes that metadata may have. */
const MAX_METADATA = 1024

const number: FieldRule = (value) => (typeof value === 'number' ? undefined : 'must be a number')
const range: FieldRule = (value) =>
  typeof value === 'string' || isJsonObject(value) ? undefined : 'must be a range'
const entries = boundedObjectRule(MAX_METADATA)
const texts: FieldRule = (value) =>
  entries(value) ??
  (isJsonObject(value) && Object.values(value).every((item) => typeof item === 'string')
    ? undefined
    : 'must be a JSON object of strings')

/** The fields of each action's input. Their bounds are the action's own business. */
export const BUCKET_FIELDS = {
  'list-objects': {
    prefix: textRule,
    delimiter: textRule,
    maxKeys: number,
    startAfter: textRule,
    nextToken: textRule,
  },
  'get-object': { key: textRule, encoding: textRule, range },
  'put-object': {
    key: textRule,
    body: textRule,
    encoding: textRule,
    contentType: textRule,
    metadata: texts,
    ifNoneMatch: textRule,
  },
  'delete-object': { key: textRule },
  'presign-get-object': { key: textRule, expiresInSeconds: number, downloadName: textRule },
  'presign-put-object': {
    key: textRule,
    contentType: textRule,
    sizeBytes: number,
    expiresInSeconds: number,
  },
} as const satisfies Record<BucketAction, Record<string, FieldRule>>
