import { Buffer } from 'node:buffer'

const EQUALS = 0x3d
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const TAB = 0x09
const NONE = 0xff
const SEXTETS = tableOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const HEX = tableOf('0123456789ABCDEF')
for (const [at, letter] of Array.from('abcdef').entries()) HEX[letter.charCodeAt(0)] = at + 10

/** The bytes that were sent (RFC 2045 §6): those of an encoding that is unknown stay as they are, and are not copied. */
export function decodeTransfer(bytes: Buffer, encoding: string): Buffer {
  const name = encoding.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  if (name.startsWith('base64')) return base64Bytes(bytes)
  if (name.startsWith('quotedprintable')) return decodeQuotedPrintable(bytes)
  if (/^x?uu/.test(name)) return decodeUu(bytes)
  return bytes
}

/** Leaves out what is not of the alphabet; padding may be anywhere, as where several texts were concatenated. */
export function base64Bytes(bytes: Uint8Array): Buffer {
  const decoded = Buffer.allocUnsafe(Math.ceil(bytes.length / 4) * 3)
  let length = 0
  let bits = 0
  let count = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    const sextet = SEXTETS[byte] ?? NONE
    if (sextet !== NONE) {
      bits = (bits << 6) | sextet
      count += 1
      if (count < 4) continue
      decoded[length] = bits >> 16
      decoded[length + 1] = bits >> 8
      decoded[length + 2] = bits
      length += 3
    } else if (byte === EQUALS) {
      length = writeRest(decoded, length, { bits, count })
    } else {
      continue
    }
    bits = 0
    count = 0
  }
  return decoded.subarray(0, writeRest(decoded, length, { bits, count }))
}

/** The bytes of two or three characters: one or two. */
function writeRest(
  decoded: Buffer,
  length: number,
  { bits, count }: { readonly bits: number; readonly count: number },
): number {
  if (count < 2) return length
  decoded[length] = count === 2 ? bits >> 4 : bits >> 10
  if (count === 2) return length + 1
  decoded[length + 1] = bits >> 2
  return length + 2
}

/** What is no code of two digits stays as it is. */
export function decodeQuotedPrintable(bytes: Uint8Array): Buffer {
  const decoded = Buffer.allocUnsafe(bytes.length)
  let length = 0
  let at = 0
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0
    at += 1
    const code = byte === EQUALS ? codeAt(bytes, at) : byte
    const next = code === undefined ? softBreak(bytes, at) : undefined
    if (next === undefined) decoded[length++] = code ?? byte
    at = next ?? (byte === EQUALS && code !== undefined ? at + 2 : at)
  }
  return decoded.subarray(0, length)
}

function codeAt(bytes: Uint8Array, at: number): number | undefined {
  const high = HEX[bytes[at] ?? 0] ?? NONE
  const low = HEX[bytes[at + 1] ?? 0] ?? NONE
  return high === NONE || low === NONE ? undefined : (high << 4) | low
}

/** Where the next line starts, when nothing but blanks comes before its end. */
function softBreak(bytes: Uint8Array, start: number): number | undefined {
  let at = start
  while (bytes[at] === SPACE || bytes[at] === TAB) at += 1
  if (bytes[at] === CR) at += 1
  if (at >= bytes.length) return at
  if (bytes[at] === LF) return at + 1
  return bytes[at - 1] === CR && at > start ? at : undefined
}

/** From `begin` to `end`; without these lines, the whole. */
function decodeUu(bytes: Buffer): Buffer {
  const decoded = Buffer.allocUnsafe(bytes.length)
  let length = 0
  const isFirst = bytes.toString('latin1', 0, 6) === 'begin '
  let at = isFirst ? 0 : bytes.indexOf('\nbegin ') + 1
  if (bytes.toString('latin1', at, at + 6) === 'begin ') at = lineEnd(bytes, at)
  while (at < bytes.length && bytes.toString('latin1', at, at + 3) !== 'end') {
    const next = lineEnd(bytes, at)
    const size = ((bytes[at] ?? SPACE) - SPACE) & 0x3f
    const line = uuLine(bytes.subarray(at + 1, next), size)
    length += line.copy(decoded, length)
    at = next
  }
  return decoded.subarray(0, length)
}

function uuLine(bytes: Uint8Array, size: number): Buffer {
  const decoded = Buffer.alloc(Math.min(size, Math.floor((bytes.length * 3) / 4)))
  for (let at = 0; at < decoded.length; at += 1) {
    const group = Math.floor(at / 3) * 4
    const sextet = (place: number): number => ((bytes[group + place] ?? SPACE) - SPACE) & 0x3f
    const bits = (sextet(0) << 18) | (sextet(1) << 12) | (sextet(2) << 6) | sextet(3)
    decoded[at] = bits >> (16 - (at % 3) * 8)
  }
  return decoded
}

function lineEnd(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(LF, start)
  return end < 0 ? bytes.length : end + 1
}

function tableOf(letters: string): Uint8Array {
  const table = new Uint8Array(256).fill(NONE)
  for (const [at, letter] of Array.from(letters).entries()) table[letter.charCodeAt(0)] = at
  return table
}
