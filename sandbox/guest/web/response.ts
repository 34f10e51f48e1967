import type { Blob } from './blob.ts'
import { Body, extractBody } from './body.ts'
import type { FormData } from './form-data.ts'
import { Headers, headerOf, implyHeader, received, seal } from './headers.ts'
import { defineInterface } from './interface.ts'
import { testPattern, jsonStringify } from './primordials.ts'
import type { ReadableStream } from './streams.ts'
import { normalizeUrl } from './url.ts'
import { byteString, dictionary, requireArguments } from './webidl.ts'

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

  get type(): string {
    return this.#inner.head.type
  }
  get url(): string {
    return this.#inner.head.url
  }
  get redirected(): boolean {
    return this.#inner.head.redirected
  }
  get status(): number {
    return this.#inner.head.status
  }
  get ok(): boolean {
    return this.#inner.head.status >= 200 && this.#inner.head.status <= 299
  }
  get statusText(): string {
    return this.#inner.head.statusText
  }
  get headers(): Headers {
    return this.#inner.head.headers
  }
  get body(): ReadableStream<Uint8Array> | null {
    return this.#inner.body.stream
  }
  get bodyUsed(): boolean {
    return this.#inner.body.used
  }

  clone(): Response {
    const { body, head } = this.#inner
    return new Response(new Inner({ ...head, headers: new Headers(head.headers) }, body.clone()))
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#inner.body.arrayBuffer()
  }
  blob(): Promise<Blob> {
    return this.#inner.body.blob(headerOf(this.#inner.head.headers, 'content-type'))
  }
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#inner.body.bytes()
  }
  formData(): Promise<FormData> {
    return this.#inner.body.formData(headerOf(this.#inner.head.headers, 'content-type'))
  }
  json(): Promise<unknown> {
    return this.#inner.body.json()
  }
  text(): Promise<string> {
    return this.#inner.body.text()
  }
}

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

defineInterface('Response', Response)

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
