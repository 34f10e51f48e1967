import { AppError, invalid } from '#base/app-error.ts'
import { refuseCoding } from '#http/bodies/content-coding.ts'
import { uploadStream } from '#http/bodies/read-body.ts'
import { ObjectFault } from '#platform/objects/object-fault.ts'
import type { ObjectHead, ObjectStore } from '#platform/objects/object-store.ts'
import type { UrlGrant } from '#platform/objects/object-urls.ts'

/** Counts what a site stores. */
export interface Uploads {
  /** Runs `put`, or refuses before it. */
  take(
    upload: { readonly storeKey: string; readonly sizeBytes: number; readonly holder?: string },
    put: () => Promise<ObjectHead>,
  ): Promise<ObjectHead>
}

/** What would mean another object than the body, or another moment than now. Its sender must not believe that it had an effect. */
const UNSUPPORTED_HEADERS = ['content-range', 'if-match', 'if-unmodified-since']

/** Stores what the URL grants: its content type, exactly its bytes or up to them. Anything else is refused and stores nothing. */
export async function uploadObject(
  to: { readonly objects: Pick<ObjectStore, 'put'>; readonly uploads: Uploads },
  grant: UrlGrant,
  request: Request,
): Promise<Response> {
  const { key, holder } = grant
  refuseCoding(request)
  const onlyNew = isOnlyNew(request.headers)
  const contentType = request.headers.get('content-type') ?? ''
  if (grant.contentType !== undefined && contentType !== grant.contentType) {
    throw new AppError('Forbidden', `The signed URL takes content of type "${grant.contentType}"`)
  }
  const length = request.headers.get('content-length')
  if (length === null) return lengthRequired()
  const sizeBytes = lengthOf(grant, Number(length))
  const put = () =>
    to.objects.put(key, exactly(uploadStream(request), sizeBytes), {
      ...(contentType !== '' && { contentType }),
      maxBytes: sizeBytes,
      ...(onlyNew && { ifNoneMatch: '*' }),
    })
  const upload = { storeKey: key, sizeBytes, ...(holder !== undefined && { holder }) }
  const head = await to.uploads.take(upload, put).catch((error: unknown) => {
    throw error instanceof ObjectFault && error.code === 'PreconditionFailed'
      ? alreadyExists()
      : error
  })
  return new Response(null, { status: 200, headers: { etag: head.etag } })
}

/** What the request says it brings, where that is what the URL takes. */
function lengthOf({ sizeBytes, maxBytes = 0 }: UrlGrant, length: number): number {
  const limitBytes = sizeBytes ?? maxBytes
  if (length > limitBytes) {
    const most = sizeBytes === undefined ? 'at most' : 'exactly'
    const message = `The signed URL takes ${most} ${limitBytes} bytes`
    throw new AppError('PayloadTooLarge', message, { fields: { limitBytes } })
  }
  if (sizeBytes !== undefined && length !== sizeBytes) throw wrongLength(sizeBytes)
  return length
}

/** Whether the upload must not replace anything: `If-None-Match: *`, as S3 takes it. */
function isOnlyNew(headers: Headers): boolean {
  const unserved = UNSUPPORTED_HEADERS.find((name) => headers.has(name))
  if (unserved !== undefined) {
    throw new AppError('NotImplemented', `Send the upload without "${unserved}": it is not served`)
  }
  const condition = headers.get('if-none-match')
  if (condition === null) return false
  if (condition.trim() === '*') return true
  throw new AppError('NotImplemented', 'An upload takes "If-None-Match: *" and no other condition')
}

const alreadyExists = (): AppError =>
  new AppError(
    'PreconditionFailed',
    'There is an object under this key already (If-None-Match "*")',
  )

/** Fails at the end of a body that stopped short, before anything of it is published. */
function exactly(body: ReadableStream<Uint8Array>, sizeBytes: number): ReadableStream<Uint8Array> {
  let seen = 0
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      seen += chunk.byteLength
      controller.enqueue(chunk)
    },
    flush(controller) {
      if (seen !== sizeBytes) controller.error(wrongLength(sizeBytes))
    },
  })
  return body.pipeThrough(counter)
}

const wrongLength = (sizeBytes: number): AppError =>
  invalid('content-length', `the upload must have exactly ${sizeBytes} bytes`)

const lengthRequired = (): Response =>
  Response.json(
    { error: { code: 'LengthRequired', message: 'Send the Content-Length of the object' } },
    { status: 411 },
  )
