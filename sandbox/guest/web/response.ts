import { Body, defineBody, extractBody } from './body.ts'
import { Headers, implyHeader, received, seal } from './headers.ts'
import { defineAttributes, defineInterface, defineMethods, takeInternals } from './interface.ts'
import { testPattern, jsonStringify } from './primordials.ts'
import { normalizeUrl } from './url.ts'
import { byteString, dictionary, isWebIdlObject, requireArguments } from './webidl.ts'

const NO_BODY = /^(?:101|103|204|205|304)$/
const REDIRECTS = /^(?:301|302|303|307|308)$/
const REASON_PHRASE = /^[\t\x20-\x7E\x80-\xFF]*$/

interface Head {
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  readonly type: 'default' | 'basic' | 'error'
  readonly url: string
  readonly redirected: boolean
}

class Inner {
  readonly head: Head
  readonly body: Body

  constructor(head: Head, body: Body) {
    this.head = head
    this.body = body
  }

  get headers(): Headers {
    return this.head.headers
  }
}

/** https://fetch.spec.whatwg.org/#response-class */
export class Response {
  readonly #inner: Inner

  constructor(body?: unknown, init?: unknown) {
    this.#inner = body instanceof Inner ? body : build(body, init)
  }

  static error(): Response {
    const head = {
      ...DEFAULT_HEAD,
      status: 0,
      headers: seal(new Headers()),
      type: 'error' as const,
    }
    return new Response(new Inner(head, new Body(null)))
  }

  static json(data: unknown, init?: unknown): Response {
    requireArguments(arguments.length, 1, "Failed to execute 'json' on 'Response'")
    const text = jsonStringify(data)
    if (text === undefined) throw new TypeError('Value is not JSON serializable')
    const inner = build(text, init, 'application/json')
    return new Response(inner)
  }

  static redirect(url: string, status = 302): Response {
    requireArguments(arguments.length, 1, "Failed to execute 'redirect' on 'Response'")
    const location = normalizeUrl(`${url}`)
    if (!testPattern(REDIRECTS, `${Number(status)}`))
      throw new RangeError(`Invalid status code ${status}`)
    const headers = received([['location', location]])
    return new Response(
      new Inner({ ...DEFAULT_HEAD, status: Number(status), headers }, new Body(null)),
    )
  }

  static readonly innerOf = (value: unknown): Inner | undefined => {
    return isWebIdlObject(value) && #inner in value ? value.#inner : undefined
  }
}

const { innerOf } = takeInternals(Response)
defineAttributes(Response, innerOf, {
  type: ({ head }) => head.type,
  url: ({ head }) => head.url,
  redirected: ({ head }) => head.redirected,
  status: ({ head }) => head.status,
  ok: ({ head }) => head.status >= 200 && head.status <= 299,
  statusText: ({ head }) => head.statusText,
  headers: ({ headers }) => headers,
})
defineMethods(Response, innerOf, {
  clone: ({ body, head, headers }) =>
    new Response(new Inner({ ...head, headers: new Headers(headers) }, body.clone())),
})
defineBody(Response, innerOf)
defineInterface('Response', Response)

/** A response as fetch hands it out: its headers are read-only and any status is allowed. */
export function receivedResponse(
  head: Omit<Head, 'type' | 'headers'> & { headers: readonly (readonly [string, string])[] },
  bytes: Uint8Array<ArrayBuffer>,
): Response {
  const body = testPattern(NO_BODY, `${head.status}`)
    ? new Body(null)
    : new Body({ kind: 'bytes', bytes })
  return new Response(new Inner({ ...head, type: 'basic', headers: received(head.headers) }, body))
}

const DEFAULT_HEAD: Omit<Head, 'headers'> = {
  status: 200,
  statusText: '',
  type: 'default',
  url: '',
  redirected: false,
}

function build(content: unknown, init: unknown, contentType?: string): Inner {
  const options = dictionary(init, "Failed to construct 'Response'")
  const status = responseStatus(options['status'])
  const statusText = reasonPhrase(options['statusText'])
  const headers = new Headers(options['headers'])
  const { body, type } = extractBody(content)
  if (!body.empty && testPattern(NO_BODY, `${status}`))
    throw new TypeError(`Invalid response status code ${status}: it cannot have a body.`)
  implyHeader(headers, 'content-type', contentType ?? type)
  return new Inner({ ...DEFAULT_HEAD, status, statusText, headers }, body)
}

function responseStatus(value: unknown): number {
  if (value === undefined) return 200
  const status = Number(value) & 0xffff
  if (status < 200 || status > 599)
    throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.')
  return status
}

function reasonPhrase(value: unknown): string {
  if (value === undefined) return ''
  const text = byteString(value)
  if (!testPattern(REASON_PHRASE, text)) throw new TypeError('Invalid statusText')
  return text
}
