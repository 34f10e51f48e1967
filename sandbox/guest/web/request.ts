import { createSignal, followSignal } from './abort-signal.ts'
import type { AbortSignal } from './abort-signal.ts'
import { defineMessage, extractBody, Message } from './body.ts'
import { implyHeader } from './headers.ts'
import { defineAttributes, defineInterface, takeInternals } from './interface.ts'
import { testPattern } from './primordials.ts'
import { requestParts } from './request-parts.ts'
import type { RequestParts } from './request-parts.ts'
import { dictionary, isWebIdlObject, requireArguments } from './webidl.ts'

const BODILESS = /^(?:GET|HEAD)$/

type RequestMessage = Message<RequestParts>

/** https://fetch.spec.whatwg.org/#request-class */
export class Request {
  readonly #message: RequestMessage
  #signal: AbortSignal | undefined

  constructor(input: unknown, init?: unknown) {
    requireArguments(arguments.length, 1, "Failed to construct 'Request'")
    this.#message = input instanceof Message ? input : build(input, init)
  }

  get signal(): AbortSignal {
    const { follows } = this.#message.head
    this.#signal ??= follows === null ? createSignal() : followSignal([follows])
    return this.#signal
  }

  static readonly messageOf = (value: unknown): RequestMessage | undefined => {
    return isWebIdlObject(value) && #message in value ? value.#message : undefined
  }
}

/** The parts and the body of what is a Request, whatever a site did to its prototype. */
export const { messageOf } = takeInternals(Request)
defineAttributes(Request, messageOf, {
  method: ({ head }) => head.method,
  url: ({ head }) => head.url,
  destination: () => '',
  referrer: ({ head }) => head.referrer,
  priority: ({ head }) => head.choices.priority,
  referrerPolicy: ({ head }) => head.choices.referrerPolicy,
  mode: ({ head }) => head.choices.mode,
  credentials: ({ head }) => head.choices.credentials,
  cache: ({ head }) => head.choices.cache,
  redirect: ({ head }) => head.choices.redirect,
  integrity: ({ head }) => head.integrity,
  keepalive: ({ head }) => head.keepalive,
  isReloadNavigation: () => false,
  isHistoryNavigation: () => false,
  duplex: () => 'half',
})
defineMessage(Request, messageOf)
defineInterface('Request', Request, 1)

function build(input: unknown, init: unknown): RequestMessage {
  const options = dictionary(init, "Failed to construct 'Request'")
  const from = messageOf(input)
  const parts = requestParts(input, options, from?.head)
  const given = options['body'] ?? null
  if ((given !== null || from?.body.empty === false) && testPattern(BODILESS, parts.method))
    throw new TypeError('Request with GET/HEAD method cannot have body')
  if (given === null && from !== undefined) return new Message(parts, from.body.move())
  const { body, type } = extractBody(given)
  implyHeader(parts.headers, 'content-type', type)
  return new Message(parts, body)
}
