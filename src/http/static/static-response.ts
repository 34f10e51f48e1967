import { AppError } from '#base/app-error.ts'
import { bytesInRange, isBackwards, parseRangeHeader } from '#base/byte-range.ts'
import { negotiateEncoding } from '#http/accept-encoding.ts'
import { evaluatePreconditions, matchesIfRange } from '#http/objects/preconditions.ts'
import type { StaticBody, StaticContents } from '#sites/static/contents.ts'
import type { Representation, PathResolution } from '#sites/static/routes.ts'

type FileResolution = Extract<PathResolution, { kind: 'file' }>

/** What is asked of which site, and what the answer will say. */
export interface StaticRequest {
  readonly siteId: string
  readonly request: Request
  readonly resolution: FileResolution
  /** Of the form that is sent. Shared between requests: they are as they should be until the next one. */
  headersOf(representation: Representation): Headers
}

/**
 * A file for GET or HEAD: the form that suits the client, a range of it, or word that the client has it (RFC 9110).
 * Undefined when its bytes are gone.
 */
export function staticResponse(
  contents: StaticContents,
  asked: StaticRequest,
): Response | Promise<Response | undefined> {
  const { request, resolution } = asked
  const { headers } = request
  const { representations } = resolution.file
  const representation =
    representations.length === 1
      ? representations[0]
      : negotiateEncoding(headers.get('accept-encoding'), representations)
  if (!representation) throw new Error('A served file has no form')
  const answer = asked.headersOf(representation)
  // Conditions and ranges are about the file at this path: a page that stands in for it is none.
  if (resolution.status === 200) {
    const condition = isConditional(headers)
      ? evaluatePreconditions(headers, representation)
      : undefined
    if (condition === 'failed') throw preconditionFailed()
    if (condition === 'unmodified') return notModified(new Headers(answer))
    const range = request.method === 'GET' ? rangeOf(headers, representation) : undefined
    if (range) {
      const own = new Headers(answer)
      return rangeResponse(contents, { ...asked, representation, answer: own, range })
    }
  }
  return wholeResponse(contents, { ...asked, representation, answer })
}

/** Conditions about a time do not apply: there is no `Last-Modified`. */
const isConditional = (headers: Headers): boolean =>
  headers.has('if-none-match') || headers.has('if-match')

interface Answering extends StaticRequest {
  readonly representation: Representation
  readonly answer: Headers
}

type Range = { readonly start: number; readonly end: number } | 'unsatisfiable'

/** Undefined where the whole is wanted, or what is wanted is no range that is served: one at a time (RFC 9110 §14.2). */
function rangeOf(headers: Headers, { etag, sizeBytes }: Representation): Range | undefined {
  const header = headers.get('range')
  if (header === null || !matchesIfRange(headers, { etag })) return undefined
  const range = parseRangeHeader(header)
  if (!range || isBackwards(range)) return undefined
  return bytesInRange(range, sizeBytes) ?? 'unsatisfiable'
}

function wholeResponse(
  contents: StaticContents,
  { siteId, request, resolution, representation, answer }: Answering,
): Response | Promise<Response | undefined> {
  const { status } = resolution
  const isKept = contents.isKept(representation)
  const bytes = isKept && request.method === 'GET' && contents.bytes(siteId, representation)
  if (bytes instanceof Uint8Array) return new Response(bodyOf(bytes), { status, headers: answer })
  const headers = new Headers(answer)
  if (bytes) return bytes.then((read) => read && new Response(bodyOf(read), { status, headers }))
  headers.set('content-length', String(representation.sizeBytes))
  return request.method === 'HEAD'
    ? new Response(null, { status, headers })
    : fromStore(contents.read(siteId, representation), { status, headers })
}

function rangeResponse(
  contents: StaticContents,
  { siteId, representation, answer, range }: Answering & { readonly range: Range },
): Response | Promise<Response | undefined> {
  const { sizeBytes } = representation
  if (range === 'unsatisfiable') {
    for (const name of ['content-type', 'content-encoding', 'etag']) answer.delete(name)
    answer.set('content-range', `bytes */${sizeBytes}`)
    answer.set('content-length', '0')
    return new Response(null, { status: 416, headers: answer })
  }
  const { start, end } = range
  answer.set('content-range', `bytes ${start}-${end}/${sizeBytes}`)
  answer.set('content-length', String(end - start + 1))
  return fromStore(contents.read(siteId, representation, range), { status: 206, headers: answer })
}

async function fromStore(
  reading: Promise<StaticBody | undefined>,
  init: { readonly status: number; readonly headers: Headers },
): Promise<Response | undefined> {
  const body = await reading
  return body && new Response(body, init)
}

function notModified(answer: Headers): Response {
  for (const name of ['content-type', 'content-encoding', 'accept-ranges']) answer.delete(name)
  return new Response(null, { status: 304, headers: answer })
}

/** The types of arrays over shared memory are in the way: these are not. */
const bodyOf = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => bytes as Uint8Array<ArrayBuffer>

const preconditionFailed = (): AppError =>
  new AppError('PreconditionFailed', 'The file is another by now than the request asks for')
