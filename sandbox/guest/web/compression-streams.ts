import { defineInterface } from './interface.ts'
import { part } from './parts.ts'
import { hasOwn } from './primordials.ts'
import { ReadableStream, WritableStream } from './streams.ts'
import { requireArguments, shownBytes } from './webidl.ts'

const FORMATS = { deflate: true, 'deflate-raw': true, gzip: true } as const

export type CompressionFormat = keyof typeof FORMATS

/** Turns bytes into others, a piece at a time. */
export interface Codec {
  /** More input; only when `next` has given all that the last had. */
  push(bytes: Uint8Array): void
  /** There is no more input. */
  finish(): void
  /** The next piece, or undefined when it takes more input; a TypeError when the input is malformed. */
  next(): Uint8Array<ArrayBuffer> | undefined
  /** A TypeError when the input was not whole. */
  end(): void
}

/**
 * Both ends of a codec. A piece is made only when the readable side is asked for one, so that what is small when compressed
 * waits instead of filling the memory.
 */
class CodecStream {
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream
  readonly #codec: Codec
  #isAsked = false
  #isCancelled = false
  #asked: (() => void) | undefined

  constructor(codec: Codec) {
    this.#codec = codec
    let output: ReadableStreamDefaultController<Uint8Array>
    let input: WritableStreamDefaultController
    const failing = async (work: () => Promise<void>): Promise<void> => {
      try {
        await work()
      } catch (error) {
        if (!this.#isCancelled) output.error(error)
        throw error
      }
    }
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          output = controller as typeof output
        },
        pull: () => this.#ask(),
        cancel: (reason) => {
          this.#isCancelled = true
          input.error(reason)
          this.#ask()
        },
      },
      { highWaterMark: 0 },
    )
    this.writable = new WritableStream<unknown>({
      start: (controller) => {
        input = controller as typeof input
      },
      write: (chunk) =>
        failing(async () => {
          codec.push(bytesOf(chunk))
          await this.#drain(output)
        }),
      close: () =>
        failing(async () => {
          codec.finish()
          await this.#drain(output)
          codec.end()
          if (!this.#isCancelled) output.close()
        }),
      abort: (reason) => output.error(reason),
    })
  }

  async #drain(output: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (let piece = this.#codec.next(); piece !== undefined; piece = this.#codec.next()) {
      if (!this.#isAsked) await new Promise<void>((resolve) => (this.#asked = resolve))
      if (this.#isCancelled) return
      this.#isAsked = false
      output.enqueue(piece)
    }
  }

  #ask(): void {
    this.#isAsked = true
    this.#asked?.()
  }
}

/** https://compression.spec.whatwg.org/#compression-stream */
class CompressionStream {
  readonly #streams: CodecStream

  constructor(format: unknown) {
    requireArguments(arguments.length, 1, "Failed to construct 'CompressionStream'")
    const name = formatOf(format, 'CompressionStream')
    this.#streams = new CodecStream(part('compression').createCompressor(name))
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#streams.readable
  }
  get writable(): WritableStream {
    return this.#streams.writable
  }
}

/** https://compression.spec.whatwg.org/#decompression-stream */
class DecompressionStream {
  readonly #streams: CodecStream

  constructor(format: unknown) {
    requireArguments(arguments.length, 1, "Failed to construct 'DecompressionStream'")
    const name = formatOf(format, 'DecompressionStream')
    this.#streams = new CodecStream(part('compression').createDecompressor(name))
  }

  get readable(): ReadableStream<Uint8Array> {
    return this.#streams.readable
  }
  get writable(): WritableStream {
    return this.#streams.writable
  }
}

defineInterface('CompressionStream', CompressionStream, 1)
defineInterface('DecompressionStream', DecompressionStream, 1)

function formatOf(format: unknown, name: string): CompressionFormat {
  const text = `${format as string}`
  if (isFormat(text)) return text
  throw new TypeError(
    `Failed to construct '${name}': "${text}" is not a compression format; there are deflate, deflate-raw and gzip.`,
  )
}

const isFormat = (text: string): text is CompressionFormat => hasOwn(FORMATS, text)

/** A copy: the writer may change its bytes while they wait. */
function bytesOf(chunk: unknown): Uint8Array {
  const bytes = shownBytes(chunk)
  if (bytes === undefined) throw new TypeError('A chunk must be an ArrayBuffer or a view on one.')
  return new Uint8Array(bytes)
}
