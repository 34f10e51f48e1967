import { defineInterface, takeInternals } from './interface.ts'
import { part } from './parts.ts'
import { testPattern, toLowerCase } from './primordials.ts'
import { type DecoderOptions, type StreamDecoder, Utf8Decoder } from './utf8-decoder.ts'
import { encodeInto, encodeUtf8 } from './utf8.ts'
import { dictionary, requireArguments, shownBytes } from './webidl.ts'

/** https://encoding.spec.whatwg.org/#ref-for-utf-8, with the white space that labels may have around them. */
const UTF8 =
  /^[\t\n\f\r ]*(?:utf-?8|unicode-1-1-utf-8|unicode11utf8|(?:x-)?unicode20utf8)[\t\n\f\r ]*$/

class TextEncoder {
  readonly #encoding = 'utf-8'

  get encoding(): string {
    return this.#encoding
  }

  encode(input: string = ''): Uint8Array<ArrayBuffer> {
    void this.#encoding
    return encodeUtf8(`${input}`)
  }

  encodeInto(source: string, destination: Uint8Array): { read: number; written: number } {
    void this.#encoding
    requireArguments(arguments.length, 2, "Failed to execute 'encodeInto' on 'TextEncoder'")
    const text = `${source}`
    if (!(destination instanceof Uint8Array))
      throw new TypeError("The destination must be of type 'Uint8Array'.")
    return encodeInto(text, destination)
  }
}

export class TextDecoder {
  readonly #decoder: StreamDecoder
  readonly #options: DecoderOptions

  constructor(label = 'utf-8', options?: unknown) {
    const name = `${label}`
    const { fatal, ignoreBOM } = dictionary(options, "Failed to construct 'TextDecoder'")
    this.#options = { fatal: Boolean(fatal), ignoreBOM: Boolean(ignoreBOM) }
    this.#decoder = testPattern(UTF8, toLowerCase(name))
      ? new Utf8Decoder(this.#options)
      : part('encodings').createDecoder(name, this.#options)
  }

  get encoding(): string {
    return this.#decoder.encoding
  }
  get fatal(): boolean {
    return this.#options.fatal
  }
  get ignoreBOM(): boolean {
    return this.#options.ignoreBOM
  }

  decode(input?: ArrayBuffer | ArrayBufferView, options?: unknown): string {
    const bytes = input === undefined ? new Uint8Array() : shownBytes(input)
    if (bytes === undefined)
      throw new TypeError('The encoded data must be an ArrayBuffer or a view on one.')
    const { stream } = dictionary(options, "Failed to execute 'decode' on 'TextDecoder'")
    return this.#decoder.decode(bytes, Boolean(stream))
  }

  /** What `decode` does, whatever the site made of it. */
  static readonly decodeAll = (decoder: TextDecoder, bytes: Uint8Array): string => {
    return decoder.#decoder.decode(bytes, false)
  }
}

export const { decodeAll } = takeInternals(TextDecoder)

defineInterface('TextEncoder', TextEncoder)
defineInterface('TextDecoder', TextDecoder)
