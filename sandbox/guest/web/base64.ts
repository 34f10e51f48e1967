import { DOMException } from './dom-exception.ts'
import {
  apply,
  ceil,
  charCodeAt,
  floor,
  fromCharCode,
  subarray,
  Uint8ArrayClass,
} from './primordials.ts'
import { requireArguments } from './webidl.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const CHUNK = 8192
const INVALID = 255
const CODES = new Uint8ArrayClass(64)
const VALUES = new Uint8ArrayClass(256).fill(INVALID)
for (let value = 0; value < 64; value++) {
  const code = ALPHABET.charCodeAt(value)
  CODES[value] = code
  VALUES[code] = value
}

/** Bytes as text of one char per byte. */
export function latin1FromBytes(bytes: Uint8Array): string {
  if (bytes.length <= CHUNK) return fromBytes(bytes)
  let text = ''
  for (let offset = 0; offset < bytes.length; offset += CHUNK)
    text += fromBytes(subarray(bytes, offset, offset + CHUNK))
  return text
}

/** Text of one char per byte as bytes; the caller made sure of the range. */
export function bytesFromLatin1(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8ArrayClass(text.length)
  for (let index = 0; index < text.length; index++) bytes[index] = charCodeAt(text, index)
  return bytes
}

export function encodeBase64(bytes: Uint8Array): string {
  const out = new Uint8ArrayClass(ceil(bytes.length / 3) * 4)
  const whole = bytes.length - (bytes.length % 3)
  let at = 0
  for (let index = 0; index < whole; index += 3) {
    const group =
      (byteAt(bytes, index) << 16) | (byteAt(bytes, index + 1) << 8) | byteAt(bytes, index + 2)
    out[at++] = byteAt(CODES, group >> 18)
    out[at++] = byteAt(CODES, (group >> 12) & 63)
    out[at++] = byteAt(CODES, (group >> 6) & 63)
    out[at++] = byteAt(CODES, group & 63)
  }
  if (whole < bytes.length) encodeTail(bytes, whole, subarray(out, at))
  return latin1FromBytes(out)
}

/** Forgiving base64 of the Infra standard: ASCII whitespace ignored, padding optional; undefined when malformed. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const values = new Uint8ArrayClass(text.length)
  let count = 0
  let padding = 0
  for (let index = 0; index < text.length; index++) {
    const code = charCodeAt(text, index)
    if (isWhitespace(code)) continue
    if (code === 0x3d) {
      padding++
      continue
    }
    const value = code < 256 ? byteAt(VALUES, code) : INVALID
    if (value === INVALID || padding > 0) return undefined
    values[count++] = value
  }
  const fits = padding === 0 ? count % 4 !== 1 : padding <= 2 && (count + padding) % 4 === 0
  return fits ? pack(values, count) : undefined
}

export function btoa(text: string): string {
  requireArguments(arguments.length, 1, "Failed to execute 'btoa'")
  const input = `${text}`
  for (let index = 0; index < input.length; index++)
    if (charCodeAt(input, index) > 255)
      throw invalidCharacter(
        'Cannot encode string: string contains characters outside of the Latin1 range',
      )
  return encodeBase64(bytesFromLatin1(input))
}

export function atob(text: string): string {
  requireArguments(arguments.length, 1, "Failed to execute 'atob'")
  const bytes = decodeBase64(`${text}`)
  if (bytes === undefined) throw invalidCharacter('Failed to decode base64')
  return latin1FromBytes(bytes)
}

const byteAt = (bytes: Uint8Array, index: number): number => bytes[index] ?? 0

const fromBytes = (bytes: Uint8Array): string =>
  apply(fromCharCode, undefined, bytes as unknown as number[])

const isWhitespace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09 || code === 0x0c

function encodeTail(bytes: Uint8Array, from: number, out: Uint8Array): void {
  const two = bytes.length - from === 2
  const group = (byteAt(bytes, from) << 16) | (two ? byteAt(bytes, from + 1) << 8 : 0)
  out[0] = byteAt(CODES, group >> 18)
  out[1] = byteAt(CODES, (group >> 12) & 63)
  out[2] = two ? byteAt(CODES, (group >> 6) & 63) : 0x3d
  out[3] = 0x3d
}

function pack(values: Uint8Array, count: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8ArrayClass(floor((count * 3) / 4))
  let at = 0
  for (let index = 0; index < count; index += 4) {
    const group =
      (byteAt(values, index) << 18) |
      (byteAt(values, index + 1) << 12) |
      (byteAt(values, index + 2) << 6) |
      byteAt(values, index + 3)
    bytes[at++] = group >> 16
    if (at < bytes.length) bytes[at++] = (group >> 8) & 255
    if (at < bytes.length) bytes[at++] = group & 255
  }
  return bytes
}

const invalidCharacter = (message: string): DOMException =>
  new DOMException(message, 'InvalidCharacterError')
