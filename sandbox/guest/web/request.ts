import { anySignal, createSignal } from './abort-signal.ts'
import type { AbortSignal } from './abort-signal.ts'
import type { Blob } from './blob.ts'
import { extractBody } from './body.ts'
import type { Body } from './body.ts'
import type { FormData } from './form-data.ts'
import { headerOf, Headers, implyHeader } from './headers.ts'
import { defineInterface } from './interface.ts'
import { testPattern } from './primordials.ts'
import { requestParts } from './request-parts.ts'
import type { RequestParts } from './request-parts.ts'
import type { ReadableStream } from './streams.ts'
import { dictionary, isWebIdlObject, requireArguments } from './webidl.ts'

const BODILESS = /^(?:GET|HEAD)$/

/** All there is to a request; also what makes one from parts that are known to be right. */
class Inner {
  readonly parts: RequestParts
  readonly body: Body

  constructor(parts: RequestParts, body: Body) {
    this.parts = parts
    this.body = body
  }
}

/** https://fetch.spec.whatwg.org/#request-class */
export class Request {
  readonly #inner: Inner
  #signal: AbortSignal | undefined

  constructor(input: unknown, init?: unknown) {
    requireArguments(arguments.length, 1, "Failed to construct 'Request'")
    this.#inner = input instanceof Inner ? input : build(input, init)
  }

  get method(): string {
    return this.#inner.parts.method
  }
  get url(): string {
    return this.#inner.parts.url
  }
  get headers(): Headers {
    return this.#inner.parts.headers
  }
  get destination(): string {
    void this.#inner
    return ''
  }
  get referrer(): string {
    void this.#inner
    return 'about:client'
  }
  get referrerPolicy(): string {
    return this.#inner.parts.choices.referrerPolicy
  }
  get mode(): string {
    return this.#inner.parts.choices.mode
  }
  get credentials(): string {
    return this.#inner.parts.choices.credentials
  }
  get cache(): string {
    return this.#inner.parts.choices.cache
  }
  get redirect(): string {
    return this.#inner.parts.choices.redirect
  }
  get integrity(): string {
    return this.#inner.parts.integrity
  }
  get keepalive(): boolean {
    return this.#inner.parts.keepalive
  }
  get isReloadNavigation(): boolean {
    void this.#inner
    return false
  }
  get isHistoryNavigation(): boolean {
    void this.#inner
    return false
  }
  get signal(): AbortSignal {
    const { follows } = this.#inner.parts
    this.#signal ??= follows === null ? createSignal() : anySignal([follows])
    return this.#signal
  }
  get duplex(): string {
    void this.#inner
    return 'half'
  }
  get body(): ReadableStream<Uint8Array> | null {
    return this.#inner.body.stream
  }
  get bodyUsed(): boolean {
    return this.#inner.body.used
  }

  clone(): Request {
    const { body, parts } = this.#inner
    const copy = body.clone()
    return new Request(new Inner({ ...parts, headers: new Headers(parts.headers) }, copy))
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#inner.body.arrayBuffer()
  }
  blob(): Promise<Blob> {
    return this.#inner.body.blob(headerOf(this.#inner.parts.headers, 'content-type'))
  }
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#inner.body.bytes()
  }
  formData(): Promise<FormData> {
    return this.#inner.body.formData(headerOf(this.#inner.parts.headers, 'content-type'))
  }
  json(): Promise<unknown> {
    return this.#inner.body.json()
  }
  text(): Promise<string> {
    return this.#inner.body.text()
  }

  static readonly innerOf = (value: unknown): Inner | undefined => {
    return isWebIdlObject(value) && #inner in value ? value.#inner : undefined
  }
}

/** The parts and the body of what is a Request, whatever a site did to its prototype. */
export const { innerOf } = Request
Reflect.deleteProperty(Request, 'innerOf')
defineInterface('Request', Request, 1)

function build(input: unknown, init: unknown): Inner {
  const options = dictionary(init, "Failed to construct 'Request'")
  const from = innerOf(input)
  const parts = requestParts(input, options, from?.parts)
  const given = options['body'] ?? null
  if ((given !== null || from?.body.empty === false) && testPattern(BODILESS, parts.method))
    throw new TypeError('Request with GET/HEAD method cannot have body.')
  if (given === null && from !== undefined) return new Inner(parts, from.body.move())
  const { body, type } = extractBody(given)
  implyHeader(parts.headers, 'content-type', type)
  return new Inner(parts, body)
}
