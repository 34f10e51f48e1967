import { createSignal, followSignal } from './abort-signal.ts'
import type { AbortSignal } from './abort-signal.ts'
import { defineBody, extractBody } from './body.ts'
import type { Body } from './body.ts'
import { Headers, implyHeader } from './headers.ts'
import { defineAttributes, defineInterface, defineMethods, takeInternals } from './interface.ts'
import { testPattern } from './primordials.ts'
import { requestParts } from './request-parts.ts'
import type { RequestParts } from './request-parts.ts'
import { dictionary, isWebIdlObject, requireArguments } from './webidl.ts'

const BODILESS = /^(?:GET|HEAD)$/

/** All there is to a request; also what makes one from parts that are known to be right. */
class Inner {
  readonly parts: RequestParts
  readonly body: Body
  signal: AbortSignal | undefined

  constructor(parts: RequestParts, body: Body) {
    this.parts = parts
    this.body = body
  }

  get headers(): Headers {
    return this.parts.headers
  }
}

/** https://fetch.spec.whatwg.org/#request-class */
export class Request {
  readonly #inner: Inner

  constructor(input: unknown, init?: unknown) {
    requireArguments(arguments.length, 1, "Failed to construct 'Request'")
    this.#inner = input instanceof Inner ? input : build(input, init)
  }

  static readonly innerOf = (value: unknown): Inner | undefined => {
    return isWebIdlObject(value) && #inner in value ? value.#inner : undefined
  }
}

/** The parts and the body of what is a Request, whatever a site did to its prototype. */
export const { innerOf } = takeInternals(Request)
defineAttributes(Request, innerOf, {
  method: ({ parts }) => parts.method,
  url: ({ parts }) => parts.url,
  headers: ({ headers }) => headers,
  destination: () => '',
  referrer: () => 'about:client',
  referrerPolicy: ({ parts }) => parts.choices.referrerPolicy,
  mode: ({ parts }) => parts.choices.mode,
  credentials: ({ parts }) => parts.choices.credentials,
  cache: ({ parts }) => parts.choices.cache,
  redirect: ({ parts }) => parts.choices.redirect,
  integrity: ({ parts }) => parts.integrity,
  keepalive: ({ parts }) => parts.keepalive,
  isReloadNavigation: () => false,
  isHistoryNavigation: () => false,
  signal: (inner) => {
    const { follows } = inner.parts
    inner.signal ??= follows === null ? createSignal() : followSignal([follows])
    return inner.signal
  },
  duplex: () => 'half',
})
defineMethods(Request, innerOf, {
  clone: ({ body, headers, parts }) => {
    const copy = body.clone()
    return new Request(new Inner({ ...parts, headers: new Headers(headers) }, copy))
  },
})
defineBody(Request, innerOf)
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
