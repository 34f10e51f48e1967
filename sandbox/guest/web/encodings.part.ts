import { normalizeEncoding, TextDecoder } from '@exodus/bytes/encoding.js'

import type { DecoderOptions, StreamDecoder } from './utf8-decoder.ts'

/** A decoder for any label of the Encoding standard; a RangeError for what is none. */
export function createDecoder(label: string, options: DecoderOptions): StreamDecoder {
  if (normalizeEncoding(label) === null)
    throw new RangeError(`The encoding label provided ('${label}') is invalid.`)
  const decoder = new TextDecoder(label as 'utf-8', options)
  return {
    encoding: decoder.encoding,
    decode: (bytes, stream) => decoder.decode(bytes as Uint8Array<ArrayBuffer>, { stream }),
  }
}
