import { isAscii } from 'node:buffer'

import { decodeJwt } from 'jose'

import { readBodyBytes, uploadStream } from '#http/bodies/read-body.ts'
import { RequestBody } from '#http/bodies/request-body.ts'
import {
  latin1Text,
  type RequestHead,
  servedRequestText,
} from '#platform/sandbox-host/exchange-steps.ts'
import { HTTP_LIMITS } from '#runtime/calls/http/http-limits.ts'
import { RequestSource } from '#runtime/calls/http/request-source.ts'
import { withoutReservedCookies } from '#runtime/calls/http/reserved-cookies.ts'

/** What an operation that answers HTTP takes for its body. */
export const HTTP_BODY = new RequestBody('upload', HTTP_LIMITS.requestBytes)
const WHOLE_BODY = new RequestBody('upload', HTTP_LIMITS.wholeRequestBytes)

/** What is between the client and the service, and what a client could make up about itself. */
const LEFT_OUT = new Set([
  'connection',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-real-ip',
  'x-request-id',
])
const FORWARDED_PREFIX = 'x-forwarded-'
/** Deploy tokens and the like. */
const OWN_SECRET = /\bcroft_/

/** What of a header a function sees; nothing where that is empty. */
const SHOWN = new Map<string, (value: string, received: ReceivedRequest) => string>([
  [
    'authorization',
    (value, { isAuthorized, origin }) => (isAuthorized || isOwnSecret(value, origin) ? '' : value),
  ],
  ['cookie', withoutReservedCookies],
])

/** A request on its way to a function. */
export interface ReceivedRequest {
  readonly request: Request
  /** The site's own, without a slash at its end. */
  readonly origin: string
  readonly basePath: string
  readonly requestId: string
  /** The client's, as the service believes it. */
  readonly address: string
  /** Whether the `Authorization` header was the service's to read: then the function does not see it. */
  readonly isAuthorized: boolean
}

/** The parts of the request that the isolate gets, and where the rest of its body comes from. */
export interface ServedText {
  readonly text: string
  readonly source: RequestSource | undefined
}

/** Reads a short body whole; a longer one, or one of unknown length, is left to the function. */
export async function servedText(received: ReceivedRequest): Promise<ServedText> {
  const { request } = received
  const declared = request.headers.get('content-length')
  if (isBodiless(request, declared))
    return { text: textOf(received, 'none', ''), source: undefined }
  if (declared === null || Number(declared) > HTTP_LIMITS.wholeRequestBytes) {
    const source = new RequestSource(uploadStream(request))
    return { text: textOf(received, 'streamed', ''), source }
  }
  const bytes = await readBodyBytes(request, WHOLE_BODY)
  // What is ASCII is the same text in UTF-8: nothing is decoded on the way.
  const body = isAscii(bytes) ? 'text' : 'bytes'
  return { text: textOf(received, body, latin1Text(bytes)), source: undefined }
}

function isBodiless({ method, headers }: Request, declared: string | null): boolean {
  if (method === 'GET' || method === 'HEAD' || declared === '0') return true
  return declared === null && !headers.has('transfer-encoding')
}

function textOf(received: ReceivedRequest, body: RequestHead['body'], text: string): string {
  const { request, origin, basePath } = received
  const head: RequestHead = {
    method: request.method,
    url: origin + pathAndQuery(request.url),
    basePath,
    headers: headersOf(received),
    body,
  }
  return servedRequestText(head, text)
}

function headersOf(received: ReceivedRequest) {
  const { request, origin, requestId, address } = received
  const kept: (readonly [string, string])[] = []
  for (const [name, value] of request.headers) {
    if (LEFT_OUT.has(name) || name.startsWith(FORWARDED_PREFIX)) continue
    const shown = SHOWN.get(name)?.(value, received) ?? value
    if (shown !== '') kept.push([name, shown])
  }
  kept.push(['host', new URL(origin).host], ['x-request-id', requestId])
  if (address !== '') kept.push(['x-forwarded-for', address])
  return kept
}

/** Whether it is a token that the site's own pools issued, or another secret of the service, sent where none is wanted. */
function isOwnSecret(authorization: string, origin: string): boolean {
  if (OWN_SECRET.test(authorization)) return true
  const [, token] = authorization.split(' ')
  try {
    return decodeJwt(token ?? '').iss?.startsWith(`${origin}/`) === true
  } catch {
    return false
  }
}

function pathAndQuery(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3))
}
