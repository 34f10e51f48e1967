import { charCodeAt, setBytes, slice, subarray } from './primordials.ts'
import { readUtf8, unfinishedUtf8 } from './utf8.ts'

const MARK = 0xfeff

export interface DecoderOptions {
  readonly fatal: boolean
  readonly ignoreBOM: boolean
}

/** What a `TextDecoder` does with bytes; `stream` says that more will come. */
export interface StreamDecoder {
  readonly encoding: string
  decode(bytes: Uint8Array, stream: boolean): string
}

/** The one decoder that nearly all need; the others are a part of the platform. */
export class Utf8Decoder implements StreamDecoder {
  readonly encoding = 'utf-8'
  readonly #options: DecoderOptions
  #pending = new Uint8Array()
  #isStart = true

  constructor(options: DecoderOptions) {
    this.#options = options
  }

  decode(input: Uint8Array, stream: boolean): string {
    const bytes = this.#joined(input)
    const left = stream ? unfinishedUtf8(bytes) : 0
    this.#pending = new Uint8Array(subarray(bytes, bytes.length - left))
    const { fatal, ignoreBOM } = this.#options
    const isStart = this.#isStart
    try {
      const text = readUtf8(subarray(bytes, 0, bytes.length - left), { fatal })
      this.#isStart = !stream || (isStart && text === '')
      return isStart && !ignoreBOM && charCodeAt(text, 0) === MARK ? slice(text, 1) : text
    } catch (error) {
      this.#pending = new Uint8Array()
      this.#isStart = true
      throw error
    }
  }

  #joined(input: Uint8Array): Uint8Array {
    if (this.#pending.length === 0) return input
    const bytes = new Uint8Array(this.#pending.length + input.length)
    setBytes(bytes, this.#pending)
    setBytes(bytes, input, this.#pending.length)
    return bytes
  }
}
