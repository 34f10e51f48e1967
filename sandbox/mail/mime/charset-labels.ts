import { TextDecoder } from 'node:util'

import iconv from 'iconv-lite'

import { decodeHz, decodeIso2022Jp, decodeIso2022Kr } from './iso-2022.ts'
import { decodeUtf16, decodeUtf32 } from './wide-unicode.ts'

const MAX_LABEL_LENGTH = 100
/** What may be around a label: quotes, `charset=`, `=3D`, a language (RFC 2231 §5), or what follows it. */
const DECORATION = /^(?:3d|x-?unknown|charset|[\s"'=<(_])+|[\s"';,*/>)$\\].*$/gs

export interface Charset {
  readonly name: string
  /**
   * `seven-bit`: escapes in bytes below 128; `wide`: two or four bytes a character; `multi-byte`: one or more bytes;
   * `single-byte`: one byte a character.
   */
  readonly kind: 'utf-8' | 'seven-bit' | 'wide' | 'multi-byte' | 'single-byte'
  /** What cannot be decoded is U+FFFD. */
  readonly decode: (bytes: Uint8Array) => string
}

const withIconv =
  (name: string) =>
  (bytes: Uint8Array): string =>
    iconv.decode(bytes, name)

/** Those that are read in ways of their own. */
const OWN: readonly Charset[] = [
  { name: 'iso-2022-jp', kind: 'seven-bit', decode: decodeIso2022Jp },
  { name: 'iso-2022-kr', kind: 'seven-bit', decode: decodeIso2022Kr },
  { name: 'hz-gb-2312', kind: 'seven-bit', decode: decodeHz },
  { name: 'utf-7', kind: 'seven-bit', decode: withIconv('utf-7') },
  { name: 'utf-16', kind: 'wide', decode: (bytes) => decodeUtf16(bytes) },
  { name: 'utf-16be', kind: 'wide', decode: (bytes) => decodeUtf16(bytes, 'utf-16be') },
  { name: 'utf-16le', kind: 'wide', decode: (bytes) => decodeUtf16(bytes, 'utf-16le') },
  { name: 'utf-32', kind: 'wide', decode: decodeUtf32 },
  // The tables of runtimes differ in what Hong Kong added.
  { name: 'big5', kind: 'multi-byte', decode: withIconv('big5hkscs') },
]
const MULTI_BYTE = new Set(['gbk', 'gb18030', 'euc-jp', 'shift_jis', 'euc-kr'])

/** By the letters and digits of a label: names of operating systems and old mailers, which the Encoding Standard leaves out. */
const ALIASES: readonly (readonly [pattern: RegExp, name: string])[] = [
  [
    /^(?:us)?ascii|^ansix34|^iso646|^unknown|^none$|^default|^[78]bit$|^binary$|^charset$/,
    'us-ascii',
  ],
  [/utf8|^cp65001$/, 'utf-8'],
  [/utf7|^cp65000$/, 'utf-7'],
  [/^utf16be$|^unicodefffe$/, 'utf-16be'],
  [/^utf16le$/, 'utf-16le'],
  [/^utf16|^ucs2|^iso10646ucs2|^unicode$|^csunicode$/, 'utf-16'],
  [/^utf32|^ucs4|^iso10646ucs4/, 'utf-32'],
  [/iso2022jp|^cp5022\d$|^jis$/, 'iso-2022-jp'],
  [/iso2022kr/, 'iso-2022-kr'],
  [/^hz/, 'hz-gb-2312'],
  [/sjis|shiftjis|windows31j|mskanji|^(?:cp|ms|windows)?9(?:32|43)c?$/, 'shift_jis'],
  [/eucjp|ujis|^cp51932$/, 'euc-jp'],
  [/big5|^(?:cp|ms|windows)?950$/, 'big5'],
  [/gb18030|gb2312|gbk|euccn|^(?:cp|ms|windows)?936$/, 'gb18030'],
  [/euckr|ksc5601|uhc|^(?:cp|ms|windows)?949$/, 'euc-kr'],
  [/^tis620|^iso885911/, 'windows-874'],
]
const FAMILIES: readonly (readonly [pattern: RegExp, prefix: string])[] = [
  [/^x?(?:cp|ms|win|windows|ansi)(125\d|874)/, 'windows-'],
  [/^(?:cs)?iso(?:ir)?8859(\d{1,2})/, 'iso-8859-'],
]
/** iconv-lite's names for what is no charset of text. */
const NOT_TEXT = new Set(['base64', 'hex', 'binary', 'internal'])
/** By label, those that mean none among them. */
const byLabel = new Map<string, Charset | undefined>()
const MAX_LABELS = 500

/** The charset that a label means, however it is decorated; undefined for ASCII, which says nothing of other bytes, and for what is unknown. */
export function charsetOf(label: string | undefined): Charset | undefined {
  if (label === undefined || label === '') return undefined
  const found = byLabel.get(label)
  if (found || byLabel.has(label)) return found
  if (byLabel.size >= MAX_LABELS) byLabel.clear()
  const cleaned = label.slice(0, MAX_LABEL_LENGTH).toLowerCase().replaceAll(DECORATION, '')
  const name = cleaned === '' ? undefined : nameOf(cleaned)
  const charset = name === undefined || name === 'us-ascii' ? undefined : charsetNamed(name)
  byLabel.set(label, charset)
  return charset
}

function nameOf(label: string): string | undefined {
  const compact = label.replaceAll(/[^a-z0-9]/g, '')
  const alias = ALIASES.find(([pattern]) => pattern.test(compact))?.[1]
  if (alias !== undefined) return alias
  const numbered = FAMILIES.map(([pattern, prefix]) => prefix + (pattern.exec(compact)?.[1] ?? ''))
  const encoding = [...numbered, label].map(encodingOf).find((found) => found !== undefined)
  if (encoding !== undefined) return encoding
  return NOT_TEXT.has(compact) || !iconv.encodingExists(compact) ? undefined : compact
}

function encodingOf(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}

function charsetNamed(name: string): Charset {
  const own = OWN.find((charset) => charset.name === name)
  if (own) return own
  if (encodingOf(name) === undefined) {
    return { name, kind: 'single-byte', decode: withIconv(name) }
  }
  const decoder = new TextDecoder(name)
  const kind = MULTI_BYTE.has(decoder.encoding) ? 'multi-byte' : 'single-byte'
  return {
    name,
    kind: decoder.encoding === 'utf-8' ? 'utf-8' : kind,
    decode: (bytes) => decoder.decode(bytes),
  }
}
