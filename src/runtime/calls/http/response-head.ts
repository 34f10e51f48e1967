import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { HTTP_LIMITS } from './http-limits.ts'
import { isReservedCookie } from './reserved-cookies.ts'

const HeadShape = Type.Object({
  status: Type.Integer({ minimum: 200, maximum: 599 }),
  statusText: Type.String(),
  headers: Type.Array(Type.Tuple([Type.String(), Type.String()]), {
    maxItems: HTTP_LIMITS.headers,
  }),
  body: Type.Union([Type.Literal('none'), Type.Literal('text'), Type.Literal('bytes')]),
})

/** RFC 9110, section 5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/
/** RFC 9110, section 5.5: one character for each byte. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const REASON = /^[\t\x20-\x7e]{0,128}$/
const DOMAIN = /;\s*domain\s*=/i

/** What belongs to the connection or to the service; whatever a function says of it is left out. */
const RESERVED = new Set([
  'alt-svc',
  'clear-site-data',
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'server',
  'strict-transport-security',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-cache',
  'x-request-id',
])
/** Which origins may read an answer is a setting of the site. */
const RESERVED_PREFIX = 'access-control-'

/** Status and headers as they go out. */
export interface ResponseHead {
  readonly status: number
  readonly statusText: string
  /** Names in lower case, in the order in which the function set them. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** What the function says of the length, for answers to HEAD. */
  readonly contentLength: string | undefined
  readonly body: 'none' | 'text' | 'bytes'
}

/** Why what a function answered cannot be sent, for its site's log. */
export class UnsendableResponse extends Error {}

/** Reads a head that came out of an isolate. Throws `UnsendableResponse`. */
export function parseResponseHead(text: string): ResponseHead {
  if (text.length > HTTP_LIMITS.headLength) {
    throw new UnsendableResponse(
      `its headers are longer than ${HTTP_LIMITS.headLength} characters (headLength)`,
    )
  }
  const head = parsed(text)
  if (!Value.Check(HeadShape, head)) {
    throw new UnsendableResponse(`it has no head, or more than ${HTTP_LIMITS.headers} headers`)
  }
  const { status, statusText, headers, body } = head
  for (const [name, value] of headers) checkHeader(name, value)
  const lower = headers.map(([name, value]) => [name.toLowerCase(), value] as const)
  return {
    status,
    statusText: REASON.test(statusText) ? statusText : '',
    headers: lower.filter(([name]) => !RESERVED.has(name) && !name.startsWith(RESERVED_PREFIX)),
    contentLength: lower.find(
      ([name, value]) => name === 'content-length' && /^\d{1,15}$/.test(value),
    )?.[1],
    body,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function checkHeader(name: string, value: string): void {
  if (!NAME.test(name)) throw new UnsendableResponse(`"${name}" is no name of a header`)
  if (!VALUE.test(value)) {
    throw new UnsendableResponse(`the value of the header "${name}" holds what no header may hold`)
  }
  if (name.toLowerCase() === 'set-cookie') checkCookie(value)
}

/** A cookie for a domain would reach other sites, and one with a name of the service would stand in for a session. */
function checkCookie(value: string): void {
  const name = value.slice(0, /[=;]|$/.exec(value)?.index ?? 0).trim()
  if (isReservedCookie(name)) {
    throw new UnsendableResponse(
      `the cookie "${name}" has a name of the service: choose one that does not begin with "croft_"`,
    )
  }
  if (DOMAIN.test(value)) {
    throw new UnsendableResponse(
      `the cookie "${name}" names a Domain: leave it out, and it belongs to the site's own host`,
    )
  }
}
