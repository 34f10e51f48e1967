import {
  TextDecoder as LegacyDecoder,
  TextEncoder as LegacyEncoder,
} from '@exodus/bytes/encoding-lite.js'

import { defineInterface } from './interface.ts'
import { encodeUtf8 } from './utf8.ts'
import { dictionary } from './webidl.ts'

const ENCODER = new LegacyEncoder()

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
    return ENCODER.encodeInto(source, destination)
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
