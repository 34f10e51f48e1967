import { Buffer } from 'node:buffer'

import iconv from 'iconv-lite'

type Utf16 = 'utf-16le' | 'utf-16be'

/** Of that many bytes the zeros are counted. */
const SAMPLE = 512
/** Of fewer characters nothing can be said. */
const MIN_PAIRS = 8
const MARKS: readonly (readonly [
  bytes: readonly number[],
  decode: (bytes: Uint8Array) => string,
])[] = [
  [[0xff, 0xfe, 0, 0], (bytes) => decodeUtf32(bytes)],
  [[0, 0, 0xfe, 0xff], (bytes) => decodeUtf32(bytes)],
  [[0xff, 0xfe], (bytes) => decodeUtf16(bytes, 'utf-16le')],
  [[0xfe, 0xff], (bytes) => decodeUtf16(bytes, 'utf-16be')],
]

/** Text that begins with a byte order mark of UTF-16 or UTF-32; undefined when it does not. */
export const decodeMarked = (bytes: Uint8Array): string | undefined =>
  MARKS.find(([mark]) => mark.every((byte, at) => bytes[at] === byte))?.[1](bytes)

/** Big endian with that mark or where the zeros of Latin letters say so; little endian otherwise. */
export function decodeUtf16(bytes: Uint8Array, given?: Utf16): string {
  const marked: Utf16 | undefined =
    bytes[0] === 0xfe && bytes[1] === 0xff
      ? 'utf-16be'
      : bytes[0] === 0xff && bytes[1] === 0xfe
        ? 'utf-16le'
        : undefined
  return new TextDecoder(marked ?? given ?? endianness(bytes) ?? 'utf-16le').decode(bytes)
}

export const decodeUtf32 = (bytes: Uint8Array): string => iconv.decode(Buffer.from(bytes), 'utf-32')

/** What text of Latin letters in UTF-16 shows by its zeros, which no other text has. */
export function endianness(bytes: Uint8Array): Utf16 | undefined {
  const pairs = Math.floor(Math.min(bytes.length, SAMPLE) / 2)
  let [even, odd] = [0, 0]
  for (let at = 0; at < pairs; at += 1) {
    if (bytes[at * 2] === 0) even += 1
    if (bytes[at * 2 + 1] === 0) odd += 1
  }
  if (pairs < MIN_PAIRS) return undefined
  if (odd > pairs / 2 && even * 4 < odd) return 'utf-16le'
  return even > pairs / 2 && odd * 4 < even ? 'utf-16be' : undefined
}
