import { latin1FromBytes } from '#sandbox/guest/web/base64.ts'
import type { AbortState } from '#sandbox/guest/web/event-target.ts'
import { pairsOf } from '#sandbox/guest/web/headers.ts'
import type { Pair } from '#sandbox/guest/web/pairs.ts'
import {
  ErrorClass,
  isView,
  join,
  jsonQuote,
  map,
  min,
  PromiseClass,
  subarray,
  TypeErrorClass,
} from '#sandbox/guest/web/primordials.ts'
import { responseMessageOf } from '#sandbox/guest/web/response.ts'
import type { ReadableStream } from '#sandbox/guest/web/streams.ts'
import { encodeUtf8 } from '#sandbox/guest/web/utf8.ts'
import {
  HTTP_CHUNK,
  HTTP_CHUNK_BYTES,
  HTTP_HEAD,
  type ServedBody,
} from '#sandbox/protocol/protocol.ts'

import { configured } from './config.ts'
import { callHostFor } from './host-calls.ts'

/** A longer body is sent in chunks. */
const MAX_WHOLE = 256 * 1024
/** Chunks on their way that the service has not taken. */
const MAX_SENT = 4

type ResponseMessage = NonNullable<ReturnType<typeof responseMessageOf>>
type Reader = ReturnType<ReadableStream<Uint8Array>['getReader']>

/** Sends what `fetch` answered: whole as the result of the call, or chunk by chunk, no faster than the client takes it. */
export class ResponseSender {
  readonly #call: number
  readonly #gone: AbortState
  #reader: Reader | undefined
  #sent = 0
  #failure: { readonly error: unknown } | undefined
  #wake: (() => void) | undefined

  constructor(call: number, gone: AbortState) {
    this.#call = call
    this.#gone = gone
  }

  /** The text of the result: the whole response, or nothing where all of it was streamed. */
  async send(response: unknown, method: string): Promise<string> {
    const message = responseMessageOf(response)
    if (message === undefined) throw new ErrorClass('fetch must answer with a Response')
    if (message.head.status === 0)
      throw new ErrorClass('fetch answered with Response.error(): give a status')
    const content = message.body.take()
    if (content === undefined) return headText(message, 'none')
    if (typeof content === 'string' && content.length <= maxWhole())
      return headText(message, 'text') + content
    if (typeof content !== 'string' && !isView(content))
      return await this.#stream(message, content as ReadableStream<Uint8Array>, method)
    return await this.#whole(
      message,
      typeof content === 'string' ? encodeUtf8(content) : content,
      method,
    )
  }

  /** Stops whatever is being streamed. */
  cancel(reason: unknown): void {
    this.#wake?.()
    if (this.#reader !== undefined) void ignored(this.#reader.cancel(reason))
  }

  async #whole(message: ResponseMessage, bytes: Uint8Array, method: string): Promise<string> {
    if (bytes.length <= maxWhole()) return headText(message, 'bytes') + latin1FromBytes(bytes)
    if (method === 'HEAD') return headText(message, 'none', [['content-length', `${bytes.length}`]])
    await this.#begin(message)
    await this.#sendBytes(bytes)
    await this.#taken()
    return ''
  }

  async #stream(
    message: ResponseMessage,
    stream: ReadableStream<Uint8Array>,
    method: string,
  ): Promise<string> {
    const reader = stream.getReader()
    this.#reader = reader
    if (method === 'HEAD' || this.#gone.aborted) {
      void ignored(reader.cancel(this.#gone.reason))
      return headText(message, 'none')
    }
    try {
      await this.#begin(message)
      for (;;) {
        const { done, value } = (await reader.read()) as { done: boolean; value: unknown }
        if (done || this.#gone.aborted) break
        if (!(value instanceof Uint8Array))
          throw new TypeErrorClass('The stream of a Response gives Uint8Array chunks only')
        await this.#sendBytes(value)
      }
      await this.#taken()
    } catch (error) {
      void ignored(reader.cancel(error))
      if (!this.#gone.aborted) throw error
    }
    return ''
  }

  #begin(message: ResponseMessage): Promise<void> {
    return this.#ask(HTTP_HEAD + headText(message, 'none'))
  }

  async #sendBytes(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += HTTP_CHUNK_BYTES) {
      const end = min(bytes.length, at + HTTP_CHUNK_BYTES)
      await this.#ask(HTTP_CHUNK + latin1FromBytes(subarray(bytes, at, end)))
    }
  }

  /** Waits only while too much is on its way. */
  async #ask(argument: string): Promise<void> {
    this.#sent += 1
    void this.#acknowledge(callHostFor(this.#call, 'http', argument))
    while (this.#sent >= MAX_SENT && this.#goesOn()) await this.#change()
    if (this.#failure) throw this.#failure.error
  }

  async #taken(): Promise<void> {
    while (this.#sent > 0 && this.#goesOn()) await this.#change()
    if (this.#failure) throw this.#failure.error
  }

  #goesOn(): boolean {
    return this.#failure === undefined && !this.#gone.aborted
  }

  #change(): Promise<void> {
    return new PromiseClass((resolve) => {
      this.#wake = resolve
    })
  }

  async #acknowledge(answer: Promise<string>): Promise<void> {
    try {
      await answer
    } catch (error) {
      this.#failure ??= { error }
    }
    this.#sent -= 1
    this.#wake?.()
  }
}

const maxWhole = (): number => min(MAX_WHOLE, configured().resultBytes / 4)

/** The head as JSON and a line break. Written by hand from primitives, so that no `toJSON` of the site has a say. */
function headText(
  { head: { status, statusText, headers } }: ResponseMessage,
  body: ServedBody,
  more: readonly Pair<string>[] = [],
): string {
  const pairs = [...map(pairsOf(headers), pairText), ...map(more, pairText)]
  return `{"status":${status},"statusText":${jsonQuote(statusText)},"headers":[${join(pairs, ',')}],"body":"${body}"}\n`
}

const pairText = (pair: Pair<string>): string => `[${jsonQuote(pair[0])},${jsonQuote(pair[1])}]`

async function ignored(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch {
    // The reader has cancelled.
  }
}
