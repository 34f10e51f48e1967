import { TextDecoder } from './encoding.ts'
import { defineInterface } from './interface.ts'
import { TransformStream } from './streams.ts'
import type { ReadableStream } from './streams.ts'
import { encodeUtf8 } from './utf8.ts'

/** https://encoding.spec.whatwg.org/#interface-textencoderstream */
class TextEncoderStream {
  readonly #transform: TransformStream<unknown, Uint8Array>

  constructor() {
    let lead = ''
    this.#transform = new TransformStream({
      transform(chunk, controller) {
        const text = lead + `${chunk as string}`
        lead = endsInLead(text) ? text.slice(-1) : ''
        const whole = text.slice(0, text.length - lead.length)
        if (whole !== '') controller.enqueue(encodeUtf8(whole))
      },
      flush(controller) {
        if (lead !== '') controller.enqueue(encodeUtf8(lead))
      },
    })
  }

  get encoding(): string {
    void this.#transform
    return 'utf-8'
  }
  get readable(): ReadableStream<Uint8Array> {
    return this.#transform.readable
  }
  get writable(): TransformStream['writable'] {
    return this.#transform.writable
  }
}

/** https://encoding.spec.whatwg.org/#interface-textdecoderstream */
export class TextDecoderStream {
  readonly #decoder: TextDecoder
  readonly #transform: TransformStream<ArrayBuffer | ArrayBufferView, string>

  constructor(label = 'utf-8', options?: unknown) {
    const decoder = new TextDecoder(label, options)
    this.#decoder = decoder
    this.#transform = new TransformStream({
      transform(chunk, controller) {
        if (chunk === undefined)
          throw new TypeError('A chunk must be an ArrayBuffer or a view on one.')
        const text = decoder.decode(chunk, { stream: true })
        if (text !== '') controller.enqueue(text)
      },
      flush(controller) {
        const text = decoder.decode()
        if (text !== '') controller.enqueue(text)
      },
    })
  }

  get encoding(): string {
    return this.#decoder.encoding
  }
  get fatal(): boolean {
    return this.#decoder.fatal
  }
  get ignoreBOM(): boolean {
    return this.#decoder.ignoreBOM
  }
  get readable(): ReadableStream<string> {
    return this.#transform.readable
  }
  get writable(): TransformStream['writable'] {
    return this.#transform.writable
  }
}

defineInterface('TextEncoderStream', TextEncoderStream)
defineInterface('TextDecoderStream', TextDecoderStream)

const endsInLead = (text: string): boolean => text.charCodeAt(text.length - 1) >> 10 === 0x36
