import { AppError } from '#base/app-error.ts'
import type { CallExchange } from '#platform/sandbox-host/call.ts'
import {
  type ExchangeStep,
  parseExchangeStep,
  requestChunkText,
} from '#platform/sandbox-host/exchange-steps.ts'

import { ChunkQueue } from './chunk-queue.ts'
import { HTTP_LIMITS } from './http-limits.ts'
import type { RequestSource } from './request-source.ts'
import { parseResponseHead, type ResponseHead, UnsendableResponse } from './response-head.ts'

/** What a function answered, or has begun to answer. */
export interface OperationResponse {
  readonly head: ResponseHead
  /** Null where it has none. */
  readonly body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null
}

/** One request and its response, on their way through the sandbox. What comes from there is hostile. */
export class OperationExchange implements CallExchange {
  readonly #request: RequestSource | undefined
  readonly #left = new AbortController()
  readonly #answer = Promise.withResolvers<OperationResponse>()
  #queue: ChunkQueue | undefined
  #sizeBytes = 0
  #fault: UnsendableResponse | undefined
  /** Why no response was begun. */
  #refusal: unknown
  #openStream: () => () => void = () => () => {}
  #closeStream: (() => void) | undefined

  /** `request` is the body, unless it was handed over whole. */
  constructor(request: RequestSource | undefined) {
    this.#request = request
    // A rejection belongs to the code that awaits the answer.
    this.#answer.promise.catch(() => {})
  }

  /** Rejects where nothing was answered. What fails later breaks the body off. */
  get answer(): Promise<OperationResponse> {
    return this.#answer.promise
  }

  get left(): AbortSignal {
    return this.#left.signal
  }

  get isStream(): boolean {
    return this.#closeStream !== undefined
  }

  /** `openStream` counts the request or the response where it is a stream. Throws where the request may be none. */
  admit(openStream: () => () => void): void {
    this.#openStream = openStream
    if (this.#request) this.#closeStream = openStream()
  }

  async ask(argument: string): Promise<string> {
    const step = parseExchangeStep(argument)
    if (step?.kind === 'read' && this.#request) return requestChunkText(await this.#request.next())
    if (this.left.aborted) throw goneAway()
    try {
      await this.#take(step)
    } catch (error) {
      throw error === this.#refusal ? error : this.#broken(error)
    }
    return ''
  }

  /** The call has its result: a whole response, or nothing after one that was streamed. Throws `UnsendableResponse`. */
  end(result: string): void {
    this.#request?.close()
    if (this.#fault) throw this.#fault
    if (this.#refusal !== undefined) return
    if (this.#queue) return this.#queue.close()
    this.#closeStream?.()
    if (result === '' && this.left.aborted) return this.#answer.reject(goneAway())
    const headEnd = result.indexOf('\n')
    const head = parseResponseHead(result.slice(0, Math.max(0, headEnd)))
    this.#answer.resolve({ head, body: bodyOf(head, result.slice(headEnd + 1)) })
  }

  fail(error: unknown): void {
    this.#request?.close()
    this.#answer.reject(error)
    if (this.#queue) this.#queue.fail(error)
    else this.#closeStream?.()
  }

  /** The client does not wait for the response any more. */
  leave(): void {
    this.#closeStream?.()
    this.#left.abort()
  }

  async #take(step: ExchangeStep | undefined): Promise<void> {
    if (step?.kind === 'begin' && !this.#queue) this.#begin(step.head)
    else if (step?.kind === 'chunk' && this.#queue) await this.#push(this.#queue, step.bytes)
    else throw new UnsendableResponse('it was not sent as it should')
  }

  #begin(text: string): void {
    const head = parseResponseHead(text)
    this.#count()
    const queue = new ChunkQueue({
      left: () => this.leave(),
      ended: () => this.#closeStream?.(),
      silent: () => this.#broken(tooSilent()),
    })
    this.#queue = queue
    // What fails at once is still an error, and no response that breaks off.
    setImmediate(() => this.#answer.resolve({ head, body: queue.stream }))
  }

  #count(): void {
    try {
      this.#closeStream ??= this.#openStream()
    } catch (error) {
      this.#refusal = error
      this.#answer.reject(error)
      this.leave()
      throw error
    }
  }

  async #push(queue: ChunkQueue, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    this.#sizeBytes += bytes.byteLength
    if (this.#sizeBytes > HTTP_LIMITS.responseBytes) throw tooLong()
    await queue.push(bytes)
  }

  /** Ends the response where it is, and lets the function know. */
  #broken(error: unknown): AppError {
    this.#fault ??=
      error instanceof UnsendableResponse
        ? error
        : new UnsendableResponse(error instanceof Error ? error.message : String(error))
    this.#queue?.fail(this.#fault)
    this.leave()
    return new AppError(
      'InvalidOperationResult',
      `The response was not sent: ${this.#fault.message}`,
    )
  }
}

function bodyOf({ body }: ResponseHead, text: string): Uint8Array<ArrayBuffer> | null {
  if (body === 'none') return null
  return body === 'text' ? Buffer.from(text) : Buffer.from(text, 'latin1')
}

const goneAway = (): AppError =>
  new AppError(
    'OperationInterrupted',
    'The client has disconnected: the response is not read any more',
  )

const tooLong = (): UnsendableResponse =>
  new UnsendableResponse(
    `it is longer than a response may be: limit ${HTTP_LIMITS.responseBytes} (responseBytes)`,
  )

const tooSilent = (): UnsendableResponse =>
  new UnsendableResponse(
    `no bytes for too long: limit ${HTTP_LIMITS.silenceMs} (silenceMs). A stream with long pauses sends a comment or an empty line in between`,
  )
