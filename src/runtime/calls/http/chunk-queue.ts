import { HTTP_LIMITS } from './http-limits.ts'

/** What a guest that keeps the rules never reaches. */
const MOST_BUFFERED = 4 * HTTP_LIMITS.bufferedBytes

interface ChunkQueueEvents {
  /** The reader has gone. */
  left(): void
  /** The client has all of it. */
  ended(): void
  /** Nothing has come for too long. */
  silent(): void
}

/** The body of a response between the function that gives it and the client that takes it. */
export class ChunkQueue {
  readonly stream: ReadableStream<Uint8Array>
  readonly #events: ChunkQueueEvents
  readonly #chunks: Uint8Array[] = []
  #buffered = 0
  #end: { readonly error: unknown } | 'done' | undefined
  #arrived = Promise.withResolvers<void>()
  #taken = Promise.withResolvers<void>()
  #timer: NodeJS.Timeout | undefined

  constructor(events: ChunkQueueEvents) {
    this.#events = events
    this.stream = new ReadableStream<Uint8Array>(
      { pull: (controller) => this.#pull(controller), cancel: () => this.#leave() },
      { highWaterMark: 0 },
    )
    this.#watch()
  }

  /** Resolves when there is room for more. Throws where far too much is here already. */
  async push(chunk: Uint8Array): Promise<void> {
    if (this.#end !== undefined) return
    this.#chunks.push(chunk)
    this.#buffered += chunk.byteLength
    if (this.#buffered > MOST_BUFFERED) throw new Error('More was sent than was asked for')
    this.#arrived.resolve()
    this.#watch()
    while (this.#buffered > HTTP_LIMITS.bufferedBytes && this.#end === undefined) {
      await this.#taken.promise
    }
  }

  /** No more comes: what is here still goes out. */
  close(): void {
    this.#finish('done')
  }

  /** The same, but the client is to see that it was broken off. */
  fail(error: unknown): void {
    this.#finish({ error })
  }

  #finish(end: { readonly error: unknown } | 'done'): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#arrived.resolve()
    this.#taken.resolve()
    this.#watch()
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (this.#chunks.length === 0 && this.#end === undefined) {
      this.#arrived = Promise.withResolvers<void>()
      await this.#arrived.promise
    }
    const chunk = this.#chunks.shift()
    if (chunk !== undefined) {
      this.#buffered -= chunk.byteLength
      controller.enqueue(chunk)
      this.#taken.resolve()
      this.#taken = Promise.withResolvers<void>()
      this.#watch()
      return
    }
    clearTimeout(this.#timer)
    this.#events.ended()
    if (this.#end === 'done') controller.close()
    else controller.error(this.#end?.error)
  }

  /** Starts the count again: what is here waits for the client, and where nothing is, the client waits for the function. */
  #watch(): void {
    clearTimeout(this.#timer)
    const isUnread = this.#chunks.length > 0
    if (!isUnread && this.#end !== undefined) return
    this.#timer = isUnread
      ? setTimeout(() => this.#leave(), HTTP_LIMITS.unreadMs)
      : setTimeout(() => this.#events.silent(), HTTP_LIMITS.silenceMs)
    this.#timer.unref()
  }

  #leave(): void {
    clearTimeout(this.#timer)
    this.#chunks.length = 0
    this.#buffered = 0
    this.#finish({ error: new Error('The client has gone, or reads no more') })
    clearTimeout(this.#timer)
    this.#events.left()
  }
}
