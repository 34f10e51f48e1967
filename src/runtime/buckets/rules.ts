import { AppError, invalid } from '#base/app-error.ts'

import type { Bucket } from './bucket.ts'
import { MAX_BODY_BYTES } from './inputs.ts'
import { bucketPrefix } from './store-key.ts'

const MAX_KEY_BYTES = 1024
const MAX_CONTENT_TYPE = 255
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
/** RFC 9110 §8.3.1: the value of a `Content-Type` header. */
const MEDIA_TYPE = new RegExp(
  `^${TOKEN}/${TOKEN}(?:[ ]*;[ ]*${TOKEN}=(?:${TOKEN}|"(?:[ !#-\\[\\]-~]|\\\\[ -~])*"))*$`,
)
const TEXTUAL =
  /^(?:text\/[^;\s]+|application\/(?:json|xml|javascript|ecmascript|x-www-form-urlencoded|yaml|x-yaml|toml|sql|graphql|x-ndjson|ndjson|jsonl|[^;\s]+\+(?:json|xml|yaml))|image\/svg\+xml)(?=$|[ ;])/i
const OTHER_CHARSET = /;\s*charset\s*=\s*(?!"?(?:utf-?8|us-ascii)"?(?:\s|;|$))/i
const METADATA_NAME = new RegExp(`^${TOKEN}$`)

/** A key as S3 takes it: any Unicode but NUL, so also dots, doubled slashes and slashes at either end. */
export function checkBucketKey(bucket: Bucket, key: string, storeKeyBytes: number): void {
  const free = storeKeyBytes - Buffer.byteLength(bucketPrefix(bucket))
  checkKeyText('key', key, { min: 1, max: Math.min(MAX_KEY_BYTES, free) })
}

/** What keys are compared with: it need not be a key itself. */
export const checkKeyPart = (field: string, text: string): void =>
  checkKeyText(field, text, { min: 0, max: MAX_KEY_BYTES })

export function checkContentType(contentType: string): void {
  if (contentType.length > MAX_CONTENT_TYPE || !MEDIA_TYPE.test(contentType)) {
    throw invalid(
      'contentType',
      `must be a media type of at most ${MAX_CONTENT_TYPE} characters, like "image/png" or "text/plain; charset=utf-8"`,
    )
  }
}

/** With names in lower case, as HTTP headers mean them. */
export function normalizedMetadata(
  metadata: Readonly<Record<string, string>>,
): Record<string, string> {
  const named = new Map<string, string>()
  for (const [given, value] of Object.entries(metadata)) {
    const name = given.toLowerCase()
    if (!METADATA_NAME.test(name)) {
      throw invalid('metadata', `the name ${JSON.stringify(given)} is not a header name`)
    }
    if (named.has(name)) throw invalid('metadata', `the name "${name}" is there twice`)
    named.set(name, value)
  }
  return Object.fromEntries(named)
}

/** The bytes that a request brings in its JSON. */
export function bodyBytes(body: string, encoding: 'utf8' | 'base64'): Buffer {
  if (encoding === 'base64') return base64Bytes(body)
  if (!body.isWellFormed()) {
    throw invalid('body', 'holds half a surrogate pair: send bytes with "encoding": "base64"')
  }
  return withinBody(Buffer.from(body))
}

/** `utf8` for textual content that is valid UTF-8, unless the request says which. */
export function encodedBody(
  bytes: Uint8Array,
  contentType: string,
  asked: 'utf8' | 'base64' | undefined,
): { readonly body: string; readonly encoding: 'utf8' | 'base64' } {
  const text = asked === 'utf8' || (asked === undefined && isTextual(contentType))
  const body = text ? utf8Text(bytes) : undefined
  if (body !== undefined) return { body, encoding: 'utf8' }
  if (asked === 'utf8') {
    throw invalid('encoding', 'the object is not valid UTF-8: ask for "base64"')
  }
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return { body: view.toString('base64'), encoding: 'base64' }
}

/** `what` is the body of a request, or an object that an answer would hold. */
export function objectTooLarge(sizeBytes: number, instead: string): AppError {
  return new AppError(
    'PayloadTooLarge',
    `The object has ${sizeBytes} bytes; in JSON it may have ${MAX_BODY_BYTES} (6 MiB): ${instead}`,
    { fields: { limitBytes: MAX_BODY_BYTES, sizeBytes } },
  )
}

/** Holds an object against what the bucket is set to take. */
export function checkSize({ config }: Bucket, sizeBytes: number): void {
  const { maxObjectBytes } = config
  if (maxObjectBytes === undefined || sizeBytes <= maxObjectBytes) return
  throw new AppError(
    'PayloadTooLarge',
    `The object has ${sizeBytes} bytes; this bucket takes ${maxObjectBytes} (config "maxObjectBytes")`,
    { fields: { limitBytes: maxObjectBytes, sizeBytes } },
  )
}

export const isTextual = (contentType: string): boolean =>
  TEXTUAL.test(contentType) && !OTHER_CHARSET.test(contentType)

function checkKeyText(
  field: string,
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): void {
  const bytes = Buffer.byteLength(text)
  if (bytes < min || bytes > max) {
    throw invalid(field, `must be ${min} to ${max} bytes of UTF-8, not ${bytes}`)
  }
  if (!text.isWellFormed() || text.includes('\0')) {
    throw invalid(field, 'must be valid Unicode without NUL')
  }
}

function base64Bytes(body: string): Buffer {
  // Four characters of Base64 are three bytes: a body that is too long is not decoded first.
  if (body.length > MAX_BODY_BYTES * (4 / 3) + 4) {
    throw objectTooLarge(Math.floor((body.length * 3) / 4), PRESIGN_PUT)
  }
  const bytes = Buffer.from(body, 'base64')
  if (bytes.toString('base64') !== body) {
    throw invalid('body', 'must be base64 (RFC 4648 §4, with padding, nothing else)')
  }
  return withinBody(bytes)
}

function withinBody(bytes: Buffer): Buffer {
  if (bytes.length > MAX_BODY_BYTES) throw objectTooLarge(bytes.length, PRESIGN_PUT)
  return bytes
}

const PRESIGN_PUT = 'put it through a URL of presign-put-object'

function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
