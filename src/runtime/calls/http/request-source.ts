import { AppError } from '#base/app-error.ts'
import { REQUEST_CHUNK_BYTES } from '#platform/sandbox-host/exchange-steps.ts'
import { bodyTooLarge } from '#runtime/calls/request-body.ts'

import { HTTP_LIMITS } from './http-limits.ts'

interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

/** The body of a request that is handed on as its function reads it. */
export class RequestSource {
  readonly #reader: BodyReader
  #rest: Uint8Array = new Uint8Array()
  #sizeBytes = 0
  #isReading = false

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader()
  }

  /** The next bytes; undefined at the end. Throws `PayloadTooLarge`, or what reading fails with. */
  async next(): Promise<Uint8Array | undefined> {
    if (this.#isReading) throw new AppError('ValidationError', 'The body is being read already')
    this.#isReading = true
    try {
      while (this.#rest.byteLength === 0) {
        const { done, value } = await this.#reader.read()
        if (done || value === undefined) return undefined
        this.#sizeBytes += value.byteLength
        if (this.#sizeBytes > HTTP_LIMITS.requestBytes) throw bodyTooLarge(HTTP_LIMITS.requestBytes)
        this.#rest = value
      }
      const chunk = this.#rest.subarray(0, REQUEST_CHUNK_BYTES)
      this.#rest = this.#rest.subarray(chunk.byteLength)
      return chunk
    } finally {
      this.#isReading = false
    }
  }

  /** Discards what is left. */
  close(): void {
    this.#reader.cancel().catch(() => {})
  }
}
