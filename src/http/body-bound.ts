import { AppError } from '#base/app-error.ts'
import { MAX_SERVICE_PUT_BYTES } from '#platform/objects/object-rules.ts'

/** Payload of an operation (6 MiB) and its envelope. */
export const MAX_JSON_BYTES = 6 * 1024 * 1024 + 64 * 1024
/** One file of an artifact, or one stored object through a signed URL. */
export const MAX_UPLOAD_BYTES = MAX_SERVICE_PUT_BYTES
/** An object of 6 MiB as base64, and its envelope. */
const MAX_OBJECT_JSON_BYTES = 8 * 1024 * 1024 + 64 * 1024

/** A length of fewer digits is under every bound. */
const SURELY_SHORT = 7
const PUT_OBJECT = /^\/admin\/data\/resources\/[^/]+\/data\/s3\/put-object$/
const UPLOADS = /^\/(?:objects\/|portal\/api\/sites\/[^/]+\/deployments\/[^/]+\/files\/)/

/**
 * Refuses a body that is too long before anything reads it. A body of unknown length is read here, up to the bound,
 * because a JSON parser would take all of it. Synchronous where the length is declared.
 */
export function boundBody(request: Request, path: string): Request | Promise<Request> {
  const declared = request.headers.get('content-length')
  if (declared !== null && declared.length < SURELY_SHORT) return request
  const upload = UPLOADS.test(path)
  const limit = upload ? MAX_UPLOAD_BYTES : jsonLimit(path)
  if (declared !== null) {
    if (!/^\d+$/.test(declared) || Number(declared) > limit) throw tooLarge(limit)
    return request
  }
  return upload || request.body === null ? request : readWithin(request, request.body, limit)
}

const jsonLimit = (path: string): number =>
  PUT_OBJECT.test(path) ? MAX_OBJECT_JSON_BYTES : MAX_JSON_BYTES

async function readWithin(
  request: Request,
  stream: ReadableStream<Uint8Array>,
  limit: number,
): Promise<Request> {
  const body = await readUpTo(stream, limit)
  return new Request(request.url, {
    method: request.method,
    headers: request.headers,
    body,
    signal: request.signal,
  })
}

/** A whole body, unless it is longer than that many bytes: 413, and the rest is not read. */
export async function readUpTo(
  stream: ReadableStream<Uint8Array>,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > limit) throw tooLarge(limit)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

const tooLarge = (limit: number): AppError =>
  new AppError('PayloadTooLarge', `The request body is longer than ${limit} bytes`, {
    fields: { limitBytes: limit },
  })
