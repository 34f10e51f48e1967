import { Body, defineMessage, extractBody, Message } from './body.ts'
import { Headers, implyHeader, received, seal } from './headers.ts'
import { defineAttributes, defineInterface, takeInternals } from './interface.ts'
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

/** https://fetch.spec.whatwg.org/#response-class */
export class Response {
  readonly #message: Message<Head>

  constructor(body?: unknown, init?: unknown) {
    this.#message = body instanceof Message ? body : build(body, init)
  }

  static error(): Response {
    const headers = seal(new Headers())
    return new Response(new Message({ ...DEFAULT_HEAD, status: 0, headers, type: 'error' }))
  }

  static json(data: unknown, init?: unknown): Response {
    requireArguments(arguments.length, 1, "Failed to execute 'json' on 'Response'")
    const text = jsonStringify(data)
    if (text === undefined) throw new TypeError('Value is not JSON serializable')
    return new Response(build(text, init, 'application/json'))
  }

  static redirect(url: string, status = 302): Response {
    requireArguments(arguments.length, 1, "Failed to execute 'redirect' on 'Response'")
    const location = normalizeUrl(`${url}`)
    if (!testPattern(REDIRECTS, `${Number(status)}`))
      throw new RangeError(`Invalid redirect status code: ${status}`)
    const headers = received([['location', location]])
    return new Response(new Message({ ...DEFAULT_HEAD, status: Number(status), headers }))
  }

  static readonly messageOf = (value: unknown): Message<Head> | undefined => {
    return isWebIdlObject(value) && #message in value ? value.#message : undefined
  }
}

const { messageOf } = takeInternals(Response)
/** The head and the body of what is a Response, whatever a site did to its prototype. */
export const responseMessageOf = messageOf
defineAttributes(Response, messageOf, {
  type: ({ head }) => head.type,
  url: ({ head }) => head.url,
  redirected: ({ head }) => head.redirected,
  status: ({ head }) => head.status,
  ok: ({ head }) => head.status >= 200 && head.status <= 299,
  statusText: ({ head }) => head.statusText,
})
defineMessage(Response, messageOf)
defineInterface('Response', Response)

/** A response as fetch hands it out: its headers are read-only and any status is allowed. */
export function receivedResponse(
  head: Omit<Head, 'type' | 'headers'> & { headers: readonly (readonly [string, string])[] },
  bytes: Uint8Array<ArrayBuffer>,
): Response {
  const empty = testPattern(NO_BODY, `${head.status}`)
  const body = new Body(empty ? undefined : bytes)
  return new Response(
    new Message({ ...head, type: 'basic', headers: received(head.headers) }, body),
  )
}

const DEFAULT_HEAD: Omit<Head, 'headers'> = {
  status: 200,
  statusText: '',
  type: 'default',
  url: '',
  redirected: false,
}

function build(content: unknown, init: unknown, contentType?: string): Message<Head> {
  const options = dictionary(init, "Failed to construct 'Response'")
  const status = responseStatus(options['status'])
  const statusText = reasonPhrase(options['statusText'])
  const headers = new Headers(options['headers'])
  const { body, type } = extractBody(content)
  if (!body.empty && testPattern(NO_BODY, `${status}`))
    throw new TypeError('Response with null body status cannot have body')
  implyHeader(headers, 'content-type', contentType ?? type)
  return new Message({ ...DEFAULT_HEAD, status, statusText, headers }, body)
}

function responseStatus(value: unknown): number {
  if (value === undefined) return 200
  const status = Number(value) & 0xffff
  if (status < 200 || status > 599)
    throw new RangeError(
      `The status provided (${status}) is not equal to 101 and outside the range [200, 599]`,
    )
  return status
}

function reasonPhrase(value: unknown): string {
  if (value === undefined) return ''
  const text = byteString(value)
  if (!testPattern(REASON_PHRASE, text)) throw new TypeError(`Invalid status text: "${text}"`)
  return text
}
