import { AppError } from '#base/app-error.ts'
import { ByteBlocks } from '#base/byte-blocks.ts'
import { ipPrefix } from '#base/ip-prefix.ts'
import { checkJsonSize } from '#base/json-depth.ts'
import { scopeOf } from '#http/request-scope.ts'
import { bodyTooLarge } from '#runtime/calls/request-body.ts'

import { bodyText } from './body-text.ts'
import { type ContentCoding, contentCodingOf } from './content-coding.ts'
import { isJsonType, notJson } from './content-types.ts'
import { decodeBody } from './decode-body.ts'
import { type RequestBody, isShort } from './request-body.ts'

/** Routes have bounds of their own for what may be nested deep, and say which. */
const MAX_BODY_DEPTH = 256

const decoder = new TextDecoder()

/**
 * The value of a JSON body; undefined where there is none, or `{}` if it is optional. A body of another type is refused
 * (415), unread. Elysia's own parser knows no bounds, and recurses over what it refuses.
 */
export async function readJson(request: Request, body: RequestBody): Promise<unknown> {
  const text = hasJsonBody(request) ? await readText(request, body) : ''
  if (text.trim() === '') return body.kind === 'optional-json' ? {} : undefined
  return parseBody(text, body)
}

/** Whether there is a body; throws where it is not sent as JSON. */
export function hasJsonBody(request: Request): boolean {
  const { headers } = request
  if (headers.get('content-length') === '0') return false
  // The first reader of a body makes a stream of the request.
  if (isJsonType(headers.get('content-type'))) return true
  if (request.body === null) return false
  throw notJson()
}

/** Where reading stops, and what is said then. */
interface Limit {
  readonly limitBytes: number
  readonly tooLong: () => AppError
}

/**
 * The text of a body, decompressed, up to the route's limit (413) or a lower one of its own; it fails when it stalls or is too
 * slow for its company (408). Only a form may hold bytes that are no UTF-8.
 */
export async function readText(request: Request, body: RequestBody, own?: Limit): Promise<string> {
  const { headers } = request
  const declared = headers.get('content-length')
  if (declared === '0') return ''
  const coding = contentCodingOf(request)
  const isJson = coding === undefined && isJsonType(headers.get('content-type'))
  if (declared !== null && isJson && isShort(declared)) return readShort(request)
  if (request.body === null) return ''
  const bytes = await readBytes(request, request.body, { ...(own ?? limitOf(body)), coding })
  return body.kind === 'form' ? decoder.decode(bytes) : bodyText(bytes)
}

/** The bytes of a body up to the route's limit, as they were sent. */
export function readBodyBytes(request: Request, body: RequestBody): Promise<Uint8Array> {
  return request.body === null
    ? Promise.resolve(new Uint8Array())
    : readBytes(request, request.body, limitOf(body))
}

/** The bytes of a body as they come; reading them fails when they stall. The body is untouched until the first read. */
export function uploadStream(request: Request): ReadableStream<Uint8Array> {
  const { body } = request
  if (body === null) return new Blob([]).stream()
  let opened: OpenReader | undefined
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { reader, progress, failure } = (opened ??= openReader(request, body))
        progress.resume()
        try {
          const { done, value } = await reader.read()
          failure.throwIfAborted()
          if (!done) {
            progress.received(value.byteLength, 0)
            progress.pause()
            return controller.enqueue(value)
          }
          progress.close()
          controller.close()
        } catch (error) {
          progress.close()
          controller.error(failure.aborted ? failure.reason : error)
        }
      },
      cancel() {
        opened?.progress.close()
        opened?.reader.releaseLock()
      },
    },
    { highWaterMark: 0 },
  )
}

const limitOf = ({ limitBytes }: RequestBody): Limit => ({
  limitBytes,
  tooLong: () => bodyTooLarge(limitBytes),
})

/** Left to the runtime, which is faster: such a body is not seen arriving, and has little time for it. */
async function readShort(request: Request): Promise<string> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  const progress = scopeOf(request).bodyBudgets.openShort(reject)
  try {
    return bodyText(await Promise.race([request.arrayBuffer(), timedOut]))
  } finally {
    progress.close()
  }
}

async function readBytes(
  request: Request,
  stream: ReadableStream<Uint8Array>,
  limit: Limit & { readonly coding?: ContentCoding | undefined },
): Promise<Uint8Array> {
  const { limitBytes, tooLong, coding } = limit
  const { reader, progress, failure } = openReader(request, stream)
  const blocks = new ByteBlocks()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        failure.throwIfAborted()
        throw brokenOff()
      })
      failure.throwIfAborted()
      if (done) {
        if (coding === undefined) return blocks.join()
        progress.pause()
        const encoded = { coding, bytes: blocks.join(), host: scopeOf(request).host }
        return await decodeBody(encoded, { limitBytes, tooLong, signal: failure })
      }
      if (blocks.sizeBytes + value.byteLength > limitBytes) throw tooLong()
      const heldBefore = blocks.heldBytes
      blocks.add(value)
      progress.received(value.byteLength, blocks.heldBytes - heldBefore)
    }
  } finally {
    progress.close()
    reader.releaseLock()
  }
}

type OpenReader = ReturnType<typeof openReader>

/**
 * What reads a body, and `failure`, which is aborted with the reason when the budgets end the body. It is not cancelled: the
 * server receives and discards what is left of a body.
 */
function openReader(request: Request, stream: ReadableStream<Uint8Array>) {
  const { bodyBudgets, peerAddress, host } = scopeOf(request)
  const reader = stream.getReader()
  const ending = new AbortController()
  const progress = bodyBudgets.open({ network: ipPrefix(peerAddress), host }, (reason) => {
    ending.abort(reason)
    reader.releaseLock()
  })
  return { reader, progress, failure: ending.signal }
}

/** Throws `InvalidJson`, and `ValidationError` for what is nested too deep or holds too much. */
function parseBody(text: string, { parse }: RequestBody): unknown {
  checkJsonSize(text, MAX_BODY_DEPTH)
  try {
    return parse(text)
  } catch (error) {
    throw new AppError('InvalidJson', 'The request body is not valid JSON', { cause: error })
  }
}

/** It does not reach the client: the connection is gone. */
const brokenOff = (): AppError =>
  new AppError('RequestTimeout', 'The request body broke off before its end')
