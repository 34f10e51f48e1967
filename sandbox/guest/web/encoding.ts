import { TextDecoder as LegacyDecoder } from '@exodus/bytes/encoding-lite.js'

import { defineInterface } from './interface.ts'
import { charCodeAt, slice } from './primordials.ts'
import { encodeUtf8 } from './utf8.ts'
import { dictionary, usvString } from './webidl.ts'

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
    const text = usvString(source)
    if (!(destination instanceof Uint8Array))
      throw new TypeError("parameter 2 is not of type 'Uint8Array'.")
    const all = encodeUtf8(text)
    if (all.length <= destination.length) {
      destination.set(all)
      return { read: text.length, written: all.length }
    }
    let read = 0
    let written = 0
    while (read < text.length) {
      const units = charCodeAt(text, read) >> 10 === 0x36 ? 2 : 1
      const bytes = encodeUtf8(slice(text, read, read + units))
      if (written + bytes.length > destination.length) break
      destination.set(bytes, written)
      written += bytes.length
      read += units
    }
    return { read, written }
  }
}

export class TextDecoder {
  readonly #decoder: InstanceType<typeof LegacyDecoder>

  constructor(label = 'utf-8', options?: unknown) {
    const { fatal, ignoreBOM } = dictionary(options, "Failed to construct 'TextDecoder'")
    this.#decoder = new LegacyDecoder(`${label}` as 'utf-8', {
      fatal: Boolean(fatal),
      ignoreBOM: Boolean(ignoreBOM),
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

  decode(input?: ArrayBuffer | ArrayBufferView, options?: unknown): string {
    const { stream } = dictionary(options, "Failed to execute 'decode' on 'TextDecoder'")
    return this.#decoder.decode(input as ArrayBuffer | null, { stream: Boolean(stream) })
  }
}

defineInterface('TextEncoder', TextEncoder)
defineInterface('TextDecoder', TextDecoder)
