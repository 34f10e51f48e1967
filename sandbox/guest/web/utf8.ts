import {
  apply,
  charCodeAt,
  fromCharCode,
  setBytes,
  slice,
  subarray,
  TypeErrorClass,
} from './primordials.ts'

const REPLACEMENT = 0xfffd
const MALFORMED = -1
const CHUNK = 4096

/** UTF-8, with U+FFFD for a lone surrogate. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  const ascii = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) {
    const unit = charCodeAt(text, index)
    if (unit > 0x7f) return encodeRest(text, ascii, index)
    ascii[index] = unit
  }
  return ascii
}

function encodeRest(text: string, ascii: Uint8Array, from: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(encodedLength(text, from))
  setBytes(bytes, subarray(ascii, 0, from))
  let at = from
  for (let index = from; index < text.length; index++) {
    const unit = charCodeAt(text, index)
    if (unit < 0x80) {
      bytes[at++] = unit
      continue
    }
    const point = codePoint(text, index, unit)
    if (point > 0xffff) index++
    at = writePoint(bytes, at, point)
  }
  return bytes
}

/** "UTF-8 decode" of the Encoding standard: U+FFFD for what is malformed, and a byte order mark is dropped. */
export function decodeUtf8(bytes: Uint8Array): string {
  const text = readUtf8(bytes)
  return charCodeAt(text, 0) === 0xfeff ? slice(text, 1) : text
}

/** As `decodeUtf8`, with the byte order mark; what is malformed is U+FFFD, or a TypeError. */
export function readUtf8(bytes: Uint8Array, { fatal = false } = {}): string {
  const units = new Uint16Array(bytes.length < CHUNK ? bytes.length + 1 : CHUNK + 1)
  let text = ''
  let count = 0
  for (let index = 0; index < bytes.length;) {
    const first = bytes[index] ?? 0
    if (first < 0x80) {
      units[count++] = first
      index++
    } else {
      const found = readPoint(bytes, index, first)
      const point = shown(found.point, fatal)
      index += found.length
      if (point > 0xffff) units[count++] = 0xd7c0 + (point >> 10)
      units[count++] = point > 0xffff ? 0xdc00 | (point & 0x3ff) : point
    }
    if (count < CHUNK) continue
    text += fromUnits(units, count)
    count = 0
  }
  return text + fromUnits(units, count)
}

function shown(point: number, fatal: boolean): number {
  if (point !== MALFORMED) return point
  if (fatal) throw new TypeErrorClass('The encoded data is not UTF-8.')
  return REPLACEMENT
}

/** How many bytes at the end begin a code point whose rest may still come. */
export function unfinishedUtf8(bytes: Uint8Array): number {
  for (let count = 1; count <= 3 && count <= bytes.length; count++) {
    const index = bytes.length - count
    const first = bytes[index] ?? 0
    if (first >> 6 === 2) continue
    const { length, point } = readPoint(bytes, index, first)
    const isCut = point === MALFORMED && length === count && bytesAfter(first) >= count
    return isCut ? count : 0
  }
  return 0
}

/** As much of the text as there is room for, in whole code points; `read` counts UTF-16 units. */
export function encodeInto(
  text: string,
  destination: Uint8Array,
): { read: number; written: number } {
  let read = 0
  let written = 0
  while (read < text.length) {
    const point = codePoint(text, read, charCodeAt(text, read))
    const size = pointLength(point)
    if (written + size > destination.length) break
    if (size === 1) destination[written] = point
    else writePoint(destination, written, point)
    written += size
    read += size === 4 ? 2 : 1
  }
  return { read, written }
}

function pointLength(point: number): number {
  if (point < 0x80) return 1
  if (point < 0x800) return 2
  return point < 0x10000 ? 3 : 4
}

function encodedLength(text: string, from: number): number {
  let length = text.length
  for (let index = from; index < text.length; index++) {
    const unit = charCodeAt(text, index)
    if (unit < 0x80) continue
    if (unit < 0x800) length += 1
    else {
      length += 2
      // A pair is two units and four bytes.
      if (codePoint(text, index, unit) > 0xffff) index++
    }
  }
  return length
}

function codePoint(text: string, index: number, unit: number): number {
  if (unit >> 11 !== 0x1b) return unit
  const next = charCodeAt(text, index + 1)
  return unit < 0xdc00 && next >> 10 === 0x37
    ? ((unit - 0xd7c0) << 10) | (next & 0x3ff)
    : REPLACEMENT
}

function writePoint(bytes: Uint8Array, from: number, point: number): number {
  let at = from
  if (point < 0x800) bytes[at++] = 0xc0 | (point >> 6)
  else {
    if (point < 0x10000) bytes[at++] = 0xe0 | (point >> 12)
    else {
      bytes[at++] = 0xf0 | (point >> 18)
      bytes[at++] = 0x80 | ((point >> 12) & 63)
    }
    bytes[at++] = 0x80 | ((point >> 6) & 63)
  }
  bytes[at++] = 0x80 | (point & 63)
  return at
}

/** The code point that starts here, or `MALFORMED` for the longest start of one, as the standard's decoder takes them. */
function readPoint(
  bytes: Uint8Array,
  index: number,
  first: number,
): { length: number; point: number } {
  const needed = bytesAfter(first)
  if (needed === 0) return { length: 1, point: MALFORMED }
  let point = first & (0x3f >> needed)
  for (let offset = 1; offset <= needed; offset++) {
    const next = bytes[index + offset] ?? 0
    const bounds = offset === 1 ? secondByte(first) : 0x80bf
    if (next < bounds >> 8 || next > (bounds & 255)) return { length: offset, point: MALFORMED }
    point = (point << 6) | (next & 63)
  }
  return { length: needed + 1, point }
}

function bytesAfter(first: number): number {
  if (first < 0xc2 || first > 0xf4) return 0
  if (first < 0xe0) return 1
  return first < 0xf0 ? 2 : 3
}

/** The bounds of the byte after these, which keep out overlong forms, surrogates and what is above U+10FFFF. */
function secondByte(first: number): number {
  if (first === 0xe0) return 0xa0bf
  if (first === 0xed) return 0x809f
  if (first === 0xf0) return 0x90bf
  return first === 0xf4 ? 0x808f : 0x80bf
}

const fromUnits = (units: Uint16Array, count: number): string =>
  apply(fromCharCode, undefined, subarray(units, 0, count) as unknown as number[])
