import { Buffer, isAscii, isUtf8 } from 'node:buffer'

import { type Charset, charsetOf } from './charset-labels.ts'
import { detectedCharset } from './detected-charset.ts'
import { escapesIn } from './iso-2022.ts'
import { decodeMarked, decodeUtf16, endianness } from './wide-unicode.ts'

/** HTML names its charset near its beginning. */
const META_BYTES = 4096
/** Of a text as UTF-8 that many characters are judged. */
const JUDGED = 64 * 1024
const META =
  /<meta\b[^>]{0,300}?\bcharset\s{0,5}=\s{0,5}["']?\s{0,5}([\w.:-]{1,40})|^\s{0,20}<\?xml\b[^>]{0,100}?\bencoding\s{0,5}=\s{0,5}["']([\w.:-]{1,40})/i
const REPLACED = /\uFFFD/g
const BEYOND_ASCII = /[^\0-\x7F\uFFFD]/g
/** What UTF-8 writes in three bytes or more, as nearly all of what the charsets of several bytes are for. */
const THREE_BYTES = /[\u0800-\uFFFC\u{10000}-\u{10FFFF}]/u
const utf8 = new TextDecoder('utf-8')
const windows1252 = new TextDecoder('windows-1252')

export interface TextSource {
  /** The label of a charset, however it was written. */
  readonly declared?: string | undefined
  /** Whether it is HTML, which may name its charset itself. */
  readonly isHtml?: boolean
  /** Whether its statistics may say what it is, which takes about a millisecond. */
  readonly guesses?: boolean
}

/**
 * Reads text of whatever charset: by its byte order mark; as UTF-8 where it is valid; as declared; by the escapes of
 * ISO-2022; as HTML says; by its statistics; as Windows-1252.
 */
export function decodeText(
  source: Uint8Array,
  { declared, isHtml = false, guesses = false }: TextSource = {},
): string {
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength)
  const charset = charsetOf(declared)
  if (isAscii(bytes)) return decodeSevenBit(bytes, charset)
  const wide = decodeMarked(bytes) ?? decodeWide(bytes, charset)
  if (wide !== undefined) return wide
  return isUtf8(bytes)
    ? decodeUtf8(bytes, charset)
    : decodeOther(bytes, { charset, isHtml, guesses })
}

/** Two or four bytes a character, as declared or as its zeros say. What is UTF-8 without a zero is not. */
function decodeWide(bytes: Buffer, charset: Charset | undefined): string | undefined {
  const hasZero = bytes.includes(0)
  if (charset?.kind === 'wide') return hasZero || !isUtf8(bytes) ? charset.decode(bytes) : undefined
  const found = hasZero ? endianness(bytes) : undefined
  return found && decodeUtf16(bytes, found)
}

function decodeSevenBit(bytes: Buffer, charset: Charset | undefined): string {
  if (charset?.kind === 'seven-bit') return charset.decode(bytes)
  const wide = decodeWide(bytes, charset)
  if (wide !== undefined) return wide
  const escapes = escapesIn(bytes)
  return escapes === undefined
    ? bytes.toString('latin1')
    : (charsetOf(escapes)?.decode(bytes) ?? '')
}

/** Two bytes that UTF-8 knows may be a character of the charset that was declared. */
function decodeUtf8(bytes: Buffer, charset: Charset | undefined): string {
  const text = utf8.decode(bytes)
  if (charset?.kind !== 'multi-byte' || THREE_BYTES.test(text)) return text
  const declared = charset.decode(bytes)
  return declared.includes('\uFFFD') ? text : declared
}

interface OtherSource {
  readonly charset: Charset | undefined
  readonly isHtml: boolean
  readonly guesses: boolean
}

function decodeOther(bytes: Buffer, { charset, isHtml, guesses }: OtherSource): string {
  return (
    decodeDeclared(bytes, charset) ??
    decodeMostlyUtf8(bytes) ??
    decodeDeclared(bytes, isHtml ? charsetInHtml(bytes) : undefined) ??
    decodeDeclared(bytes, guesses ? charsetOf(detectedCharset(bytes)) : undefined) ??
    (charset?.kind === 'multi-byte' ? charset : windows1252).decode(bytes)
  )
}

/** Undefined where the charset does not fit: more than every tenth byte beyond ASCII is none of it. */
function decodeDeclared(bytes: Buffer, charset: Charset | undefined): string | undefined {
  if (!charset || charset.kind === 'utf-8' || charset.kind === 'wide') return undefined
  const text = charset.decode(bytes)
  if (!text.includes('\uFFFD')) return text
  return countOf(text, REPLACED) * 10 > bytesBeyondAscii(bytes) ? undefined : text
}

/** With wrong bytes in it, or cut within a character; undefined for what is of another charset. */
export function decodeMostlyUtf8(bytes: Buffer): string | undefined {
  const text = utf8.decode(bytes)
  const judged = text.slice(0, JUDGED)
  return countOf(judged, BEYOND_ASCII) > countOf(judged, REPLACED) ? text : undefined
}

/** The charset that HTML names itself. */
export function charsetInHtml(bytes: Buffer): Charset | undefined {
  const [, meta, xml] = META.exec(bytes.toString('latin1', 0, META_BYTES)) ?? []
  return charsetOf(meta ?? xml)
}

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

function bytesBeyondAscii(bytes: Buffer): number {
  let count = 0
  for (const byte of bytes) if (byte > 0x7f) count += 1
  return count
}
