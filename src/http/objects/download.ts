import { AppError, notFound } from '#base/app-error.ts'
import { bytesInRange, isBackwards, parseRangeHeader } from '#base/byte-range.ts'
import { attachment } from '#platform/objects/object-rules.ts'
import type { ByteRange, ObjectHead, ObjectStore } from '#platform/objects/object-store.ts'
import type { UrlGrant } from '#platform/objects/object-urls.ts'

import { matchesIfRange, evaluatePreconditions } from './preconditions.ts'

/** What a browser may show; everything else, above all HTML and SVG, is saved and never a page of the site's origin. */
const INLINE_TYPES =
  /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp|x-icon)|audio\/[\w.+-]+|video\/[\w.+-]+|text\/plain|application\/(?:json|pdf))(?:$|\s*;)/i

/**
 * For what a page would run it: a page that trusts its own origin must not get a visitor's upload as its code, and a service
 * worker from here could intercept all requests to the site.
 */
const CODE_DESTINATIONS = new Set([
  'audioworklet',
  'paintworklet',
  'script',
  'serviceworker',
  'sharedworker',
  'style',
  'worker',
  'xslt',
])

/**
 * Up to this size a body is sent in one piece: Bun sends the length of bytes and of files, and streams in chunks of unknown
 * length.
 */
const WHOLE_BYTES = 1024 * 1024

/** The object that the URL grants, whole or a range of it, for GET and HEAD. */
export async function downloadObject(
  objects: Pick<ObjectStore, 'get' | 'blob' | 'head'>,
  grant: UrlGrant,
  request: Request,
): Promise<Response> {
  refuseCode(request.headers)
  const head = await objects.head(grant.key)
  if (!head) throw notFound('Object', grant.key)
  const condition = evaluatePreconditions(request.headers, head)
  if (condition === 'failed') throw preconditionFailed()
  const headers = headersOf(head, grant)
  if (condition === 'unmodified') return new Response(null, { status: 304, headers })
  const range = requestedRange(request.headers, head)
  if (range === 'unsatisfiable') {
    headers.set('content-range', `bytes */${head.sizeBytes}`)
    return new Response(null, { status: 416, headers })
  }
  if (range) headers.set('content-range', `bytes ${range.start}-${range.end}/${head.sizeBytes}`)
  const sizeBytes = range ? range.end - range.start + 1 : head.sizeBytes
  headers.set('content-length', String(sizeBytes))
  const headOnly = request.method === 'HEAD'
  const body = headOnly ? lengthOnly(sizeBytes) : await bodyOf(objects, head, range)
  return new Response(body, { status: range ? 206 : 200, headers })
}

function refuseCode(headers: Headers): void {
  if (!CODE_DESTINATIONS.has(headers.get('sec-fetch-dest') ?? '')) return
  throw new AppError('Forbidden', 'Stored objects are content: no page may run one as its code')
}

const preconditionFailed = (): AppError =>
  new AppError('PreconditionFailed', 'The object is another by now than the request asks for')

/** Undefined where the whole object is wanted, or what is wanted is no range that is served (RFC 9110 §14.2). */
function requestedRange(
  headers: Headers,
  head: ObjectHead,
): Required<ByteRange> | 'unsatisfiable' | undefined {
  const header = matchesIfRange(headers, head) ? headers.get('range') : null
  const range = header === null ? undefined : parseRangeHeader(header)
  if (!range || isBackwards(range)) return undefined
  return bytesInRange(range, head.sizeBytes) ?? 'unsatisfiable'
}

/** The bytes that the head has announced; an object that was replaced in between has others. */
async function bodyOf(
  objects: Pick<ObjectStore, 'get' | 'blob'>,
  head: ObjectHead,
  range: Required<ByteRange> | undefined,
): Promise<ReadableStream<Uint8Array> | ArrayBuffer | Blob> {
  const sizeBytes = range ? range.end - range.start + 1 : head.sizeBytes
  const blob = sizeBytes > WHOLE_BYTES && (await objects.blob(head.key, head.etag, range))
  if (blob) return blob
  const stored = await objects.get(head.key, range)
  if (stored?.head.etag === head.etag) {
    return sizeBytes > WHOLE_BYTES ? stored.body : new Response(stored.body).arrayBuffer()
  }
  await stored?.body.cancel()
  throw new AppError('ServiceUnavailable', 'The object was replaced just now: try again', {
    retryAfterSeconds: 1,
  })
}

/** Elysia answers HEAD by adding up the chunks of the body: this has the length and none of the bytes. */
function lengthOnly(byteLength: number): ReadableStream<Uint8Array> {
  const chunk = { byteLength } as Uint8Array
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(chunk)
      controller.close()
    },
  })
}

function headersOf(head: ObjectHead, grant: UrlGrant): Headers {
  const headers = new Headers({
    'content-type': head.contentType,
    etag: head.etag,
    'last-modified': head.lastModified.toUTCString(),
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
    'content-security-policy': 'sandbox',
    'cross-origin-resource-policy': 'cross-origin',
  })
  const name = grant.downloadName
  if (name !== undefined) headers.set('content-disposition', attachment(name))
  else if (!INLINE_TYPES.test(head.contentType)) headers.set('content-disposition', 'attachment')
  return headers
}
