import { Buffer, isUtf8 } from 'node:buffer'

import { type AddressToken, AddressLexer, unescaped } from './address-tokens.ts'
import { decodeEncodedWords } from './encoded-words.ts'

/** An author or recipient as a field names it. */
export interface NamedAddress {
  /** Decoded; empty when there is none. */
  readonly name: string
  /** `local@domain`; empty when there is none. */
  readonly address: string
}

/** What is between two commas, as it was written. */
interface Segment {
  readonly tokens: readonly AddressToken[]
  /** Whether only a comma separates it from the next one, which may be of the same name. */
  readonly isOpen: boolean
}

const NO_ADDRESS: NamedAddress = { name: '', address: '' }
const PLAIN_LOCAL = /^[\w!#$%&'*+/=?^`{|}~.\-\u{80}-\u{10ffff}]+$/u
/** Letters that no text has: they mark what was quoted, and colons between other words. */
const MARKS = /[\u{F0000}-\u{F0002}]/gu
const COLON_MARK = '\u{F0002}'
const SCHEME = /^mailto:/i
/** As UTF-8. */
const WIDE_BLANKS = /\xC2\xA0|\xE3\x80\x80/g
/** Those of ASCII: others may be half of a character. */
const BLANKS = /[ \t\r\n\v\f]+/g
const BLANKS_AT_ENDS = /^[ \t\r\n\v\f]+|(?<![ \t\r\n\v\f])[ \t\r\n\v\f]+$/g
const ESC = '\x1b'
const windows1252 = new TextDecoder('windows-1252')

/** The addresses of a text, as `parseAddressOctets` reads them. */
export const parseAddressList = (list: string, maxCount: number): readonly NamedAddress[] =>
  parseAddressOctets(Buffer.from(list).toString('latin1'), { maxCount, decode: asText })

export interface AddressOptions {
  readonly maxCount: number
  /** Reads the characters of a name. */
  readonly decode: (octets: string) => string
}

/**
 * The addresses of a field, those of groups among the others (RFC 5322 §3.4, §4.4), in the order in which they were written.
 * Takes what people and programs write: commas in a name that is not quoted, routes, comments, brackets and quotes that are
 * not closed. The field has one character a byte: names are decoded after it is split, so that no character and nothing in an
 * encoded word separates.
 */
export function parseAddressOctets(
  field: string,
  { maxCount, decode }: AddressOptions,
): readonly NamedAddress[] {
  const list = withPlainBlanks(field)
  const found: NamedAddress[] = []
  /** Names without an address, which may be the beginning of the next one. */
  let names: string[] = []
  const end = (): void => {
    found.push(...names.map((name) => ({ name, address: '' })))
    names = []
  }
  for (const { tokens, isOpen } of segmentsOf(new AddressLexer(list).tokens())) {
    if (found.length + names.length >= maxCount) break
    const [first = NO_ADDRESS, ...others] = addressesIn(tokens, { list, decode })
    if (first.address === '') {
      names.push(first.name)
      if (!isOpen) end()
      continue
    }
    const isNamed = tokens.some(({ kind }) => kind === 'angle')
    if (!isNamed) end()
    found.push({ ...first, name: [...names, first.name].filter(Boolean).join(', ') }, ...others)
    names = []
  }
  end()
  return found
    .slice(0, maxCount)
    .map(({ name, address }) => ({
      name: decodeEncodedWords(name).trim(),
      address: asText(address),
    }))
    .filter(({ name, address }) => name !== '' || address !== '')
}

interface NameSource {
  readonly list: string
  readonly decode: (octets: string) => string
}

/** RFC 6532; what is not UTF-8 is read as Windows wrote it. */
function asText(octets: string): string {
  const bytes = Buffer.from(octets, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : windows1252.decode(bytes)
}

/** No-break and ideographic blanks are written for others. */
function withPlainBlanks(octets: string): string {
  const plain = octets.replaceAll(WIDE_BLANKS, ' ')
  return plain !== octets && isUtf8(Buffer.from(octets, 'latin1')) ? plain : octets
}

/**
 * A colon begins a group where a semicolon ends it, whatever its name is: an address in the name is no author. Behind a
 * bracket, or without a semicolon, it is of the name.
 */
function segmentsOf(tokens: readonly AddressToken[]): Segment[] {
  const segments: Segment[] = []
  const lastSemicolon = tokens.findLastIndex(({ kind }) => kind === 'semicolon')
  let current: AddressToken[] = []
  let hasAngle = false
  const begin = (): void => {
    current = []
    hasAngle = false
  }
  const end = (isOpen: boolean): void => {
    if (current.length > 0) segments.push({ tokens: current, isOpen })
    begin()
  }
  for (const [at, token] of tokens.entries()) {
    if (token.kind === 'comma') end(true)
    else if (token.kind === 'semicolon') end(false)
    else if (token.kind === 'colon' && isScheme(current)) begin()
    else if (token.kind === 'colon' && at < lastSemicolon && !hasAngle) begin()
    else current.push(token)
    hasAngle ||= token.kind === 'angle'
  }
  end(false)
  return segments
}

const isScheme = (tokens: readonly AddressToken[]): boolean =>
  tokens.length === 1 && trimmed(tokens[0]?.text ?? '').toLowerCase() === 'mailto'

/** The addresses of one segment: mostly one. The name is of the first. */
function addressesIn(tokens: readonly AddressToken[], source: NameSource): NamedAddress[] {
  const angles = tokens.filter(({ kind }) => kind === 'angle')
  const bracketed = angles.flatMap(({ text }) => bracketedAddresses(text))
  const [only] = tokens
  if (tokens.length === 1 && only?.kind === 'quoted' && isAddress(only.text)) {
    return bracketedAddresses(only.text).map((address) => ({ name: '', address }))
  }
  if (bracketed.some(isAddress)) return named(nameIn(tokens, source), bracketed)
  const { words, addresses } = wordsOf(tokens)
  if (bracketed.length > 0 && addresses.length === 0) {
    return named(nameIn(tokens, source), bracketed)
  }
  const others = angles.map(({ text }) => trimmed(text))
  const unbracketed = source.decode([...words, ...others].join(' '))
  return named(unbracketed || commentsOf(tokens, source), addresses)
}

/** With escapes in it, quotes may be halves of characters. */
function nameIn(tokens: readonly AddressToken[], source: NameSource): string {
  const { list, decode } = source
  const angle = tokens.find(({ kind }) => kind === 'angle')
  const whole = list.slice(tokens[0]?.start ?? 0, angle?.start ?? 0)
  const octets = tokens
    .filter(({ kind }) => kind === 'text' || kind === 'quoted' || kind === 'colon')
    .map(({ raw }) => raw)
    .join('')
  const clean = (text: string): string => unescaped(decode(text)).replaceAll(/\s+/g, ' ').trim()
  const name = whole.includes(ESC) ? withoutQuotes(clean(whole)) : clean(octets)
  return withoutStrayQuote(name) || commentsOf(tokens, source)
}

/** One at its beginning that is not closed. */
const withoutStrayQuote = (name: string): string => name.replace(/^"(?=[^"]*$)/, '')
/** As all of a name with escapes may be. */
const withoutQuotes = (name: string): string => name.replace(/^"([^"]*)"$/, '$1')

function named(name: string, addresses: readonly string[]): NamedAddress[] {
  const [first = '', ...others] = addresses
  return [{ name, address: first }, ...others.map((address) => ({ name: '', address }))]
}

const isAddress = (text: string): boolean => text.includes('@')

const commentsOf = (tokens: readonly AddressToken[], { decode }: NameSource): string =>
  tokens
    .filter(({ kind }) => kind === 'comment')
    .map(({ raw }) => unescaped(decode(raw)).trim())
    .join(' ')

const trimmed = (octets: string): string => octets.replaceAll(BLANKS_AT_ENDS, '')

/** Between brackets: without its route (RFC 5322 §4.4), blanks and comments; several where the sender put several. */
function bracketedAddresses(text: string): string[] {
  const tokens = new AddressLexer(text.replace(SCHEME, '')).tokens()
  const colon = tokens.findLastIndex(({ kind }) => kind === 'colon')
  const isRouted = trimmed(text).startsWith('@') && colon > 0
  const parts: string[] = ['']
  const wanted = isRouted ? tokens.slice(colon + 1) : tokens
  for (const [at, token] of wanted.entries()) {
    if (token.kind === 'comma' || token.kind === 'semicolon') parts.push('')
    else parts.push(`${parts.pop() ?? ''}${pieceOfAddress(token, wanted[at + 1])}`)
  }
  return parts.map(unwrapped).filter((part) => part !== '')
}

/** What is quoted may be all of the address. */
function pieceOfAddress({ kind, text }: AddressToken, next: AddressToken | undefined): string {
  if (kind === 'text') return text.replaceAll(BLANKS, '')
  if (kind !== 'quoted') return ''
  return isAddress(text) && next?.kind !== 'text' ? text : quotedLocal(text)
}

const quotedLocal = (local: string): string =>
  PLAIN_LOCAL.test(local) ? local : `"${local.replaceAll(/["\\]/g, '\\$&')}"`

/** Without quotes of a kind that no address has at both ends. */
const unwrapped = (address: string): string => address.replace(/^'(.+)'$/s, '$1')

/** The words of what has no brackets: those with an at sign are addresses. Blanks around it are of RFC 822. */
function wordsOf(tokens: readonly AddressToken[]): {
  readonly words: string[]
  readonly addresses: string[]
} {
  const { text, quoted } = markedText(tokens)
  const restored = (word: string): string =>
    word
      .replaceAll(COLON_MARK, ':')
      .replaceAll(
        /[\u{F0000}\u{F0001}](\d+)[\u{F0000}\u{F0001}]/gu,
        (_, at: string) => quoted[Number(at)] ?? '',
      )
  const all = trimmed(text)
    .replaceAll(BLANKS, ' ')
    .replaceAll(/ ?@ ?/g, '@')
    .split(' ')
    // No address has a colon.
    .flatMap((word) => (word.includes('@') ? word.split(COLON_MARK) : [word]))
    .filter((word) => word !== '')
  const isBare = (word: string): boolean =>
    word.indexOf('@') > 0 && !word.endsWith('@') && !word.includes('\u{F0001}')
  return {
    words: all
      .filter((word) => !isBare(word))
      .map(restored)
      .filter((word) => word !== ''),
    addresses: all.filter(isBare).map((word) => unwrapped(restored(word))),
  }
}

/** As one text, in which marks stand for what was quoted. */
function markedText(tokens: readonly AddressToken[]): {
  readonly text: string
  readonly quoted: readonly string[]
} {
  let text = ''
  const quoted: string[] = []
  for (const [at, token] of tokens.entries()) {
    if (token.kind === 'text') text += token.text.replaceAll(MARKS, '')
    if (token.kind === 'comment') text += ' '
    if (token.kind === 'colon') text += COLON_MARK
    if (token.kind !== 'quoted') continue
    const next = tokens[at + 1]
    const isLocal = next?.kind === 'text' && next.text.startsWith('@')
    text += isLocal ? `\u{F0000}${quoted.length}\u{F0000}` : ` \u{F0001}${quoted.length}\u{F0001} `
    quoted.push(isLocal ? quotedLocal(token.text) : token.text)
  }
  return { text, quoted }
}
