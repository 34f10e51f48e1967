import { EncodedWords } from './encoded-words.ts'

/** A piece of an address list (RFC 5322 §3.4). Quoted strings and comments come without what encloses them. */
export interface AddressToken {
  readonly kind: 'text' | 'quoted' | 'comment' | 'angle' | 'comma' | 'semicolon' | 'colon'
  readonly text: string
  /** With its backslashes: in some charsets they are half of a character. */
  readonly raw: string
  /** Where it begins in the list, with what encloses it. */
  readonly start: number
}

const KINDS: Readonly<Record<string, AddressToken['kind']>> = {
  ',': 'comma',
  ';': 'semicolon',
  ':': 'colon',
}

/** Letters of which none begins anything. */
const PLAIN = /[^"(<>,;:=\\[\p{Cc}]+/uy
const ESC = '\x1b'
/** Behind the escape: RFC 1468, RFC 1557 and what mailers add. Some have a parenthesis. */
const ESCAPE = /(?:\$\(?[@BD]|\([BHIJ]|\$\)C)/y
/** To characters of two bytes. */
const IS_WIDE = /^\$\(?[@BD]$/

/**
 * Splits an address list of one character a byte, in time linear to its length: what others take for a bracket or a quote is one
 * whatever charset the list is of. What is not closed encloses nothing: it is a letter as others. */
export class AddressLexer {
  readonly #list: string
  readonly #words: EncodedWords
  readonly #tokens: AddressToken[] = []
  #text = ''
  #textStart = 0
  #at = 0
  /** What is not closed once is not closed later. */
  readonly #unclosed = new Set<string>()

  constructor(list: string) {
    this.#list = list
    this.#words = new EncodedWords(list)
  }

  tokens(): readonly AddressToken[] {
    while (this.#at < this.#list.length) this.#take()
    this.#endText()
    return this.#tokens
  }

  #take(): void {
    const letter = this.#list.charAt(this.#at)
    const special = KINDS[letter]
    if (special !== undefined) return this.#push(special, letter, this.#at + 1)
    if (letter === '"' && this.#enclosed('quoted', quotedEnd)) return
    if (letter === '(' && this.#enclosed('comment', commentEnd)) return
    if (letter === '<') return this.#angle()
    // Without its opening bracket.
    if (letter === '>') this.#at += 1
    else this.#takeText(letter)
  }

  #takeText(letter: string): void {
    if (this.#text === '') this.#textStart = this.#at
    PLAIN.lastIndex = this.#at
    const end = PLAIN.test(this.#list) ? PLAIN.lastIndex : this.#specialEnd(letter)
    this.#text += this.#list.slice(this.#at, end)
    this.#at = end
  }

  #specialEnd(letter: string): number {
    const next = this.#at + 1
    if (letter === '=') return this.#encodedWordEnd() ?? next
    if (letter === ESC) return this.#escapedEnd() ?? next
    if (letter === '\\') return Math.min(next + 1, this.#list.length)
    // A domain literal: RFC 5321 §4.1.3.
    if (letter !== '[' || this.#list.charAt(this.#at - 1) !== '@') return next
    const literal = /^\[[\w.:-]{1,60}\]/.exec(this.#list.slice(this.#at, this.#at + 64))
    return this.#at + (literal?.[0].length ?? 1)
  }

  /** Commas in an encoded word are of it. What others may read an address in is not: RFC 2047 §5(3) has none of that here. */
  #encodedWordEnd(): number | undefined {
    const word = this.#words.at(this.#at)
    return word !== undefined && isClosed(word.payload) ? word.end : undefined
  }

  /** So are those among characters of two bytes. */
  #escapedEnd(): number | undefined {
    ESCAPE.lastIndex = this.#at + 1
    const escape = ESCAPE.exec(this.#list)?.[0]
    if (escape === undefined) return undefined
    const end = this.#at + 1 + escape.length
    const next = IS_WIDE.test(escape) ? this.#list.indexOf(ESC, end) : -1
    return next >= 0 && isClosed(this.#list.slice(end, next)) ? next : end
  }

  #enclosed(kind: 'quoted' | 'comment', endOf: (list: string, start: number) => number): boolean {
    if (this.#unclosed.has(kind)) return false
    const end = endOf(this.#list, this.#at + 1)
    if (end < 0) {
      this.#unclosed.add(kind)
      return false
    }
    this.#push(kind, this.#list.slice(this.#at + 1, end), end + 1)
    return true
  }

  /** To its end, or else to where the next address may begin. Of two that open, the first is a letter. */
  #angle(): void {
    const start = this.#at + 1
    const rest = /[<>]/g
    rest.lastIndex = start
    const found = rest.exec(this.#list)
    if (found?.[0] === '<') {
      this.#at += 1
      return
    }
    const separator = /[,;]/g
    separator.lastIndex = start
    const end = found?.index ?? separator.exec(this.#list)?.index ?? this.#list.length
    this.#push('angle', this.#list.slice(start, end), found ? end + 1 : end)
  }

  #push(kind: AddressToken['kind'], raw: string, next: number): void {
    this.#endText()
    const text = kind === 'quoted' || kind === 'comment' ? unescaped(raw) : raw
    this.#tokens.push({ kind, text, raw, start: this.#at })
    this.#at = next
  }

  #endText(): void {
    if (this.#text !== '') {
      const raw = this.#text
      this.#tokens.push({ kind: 'text', text: unescaped(raw), raw, start: this.#textStart })
    }
    this.#text = ''
  }
}

/** Without the backslashes of RFC 5322 §3.2.1. */
export const unescaped = (text: string): string =>
  text.includes('\\') ? text.replaceAll(/\\(.)/gs, '$1') : text

/** Whether nothing in it opens or closes what is around it: no brackets; quotes and parentheses in pairs, without escapes. */
function isClosed(text: string): boolean {
  if (/[<>]/.test(text)) return false
  const marks = text.match(/["()]/g) ?? []
  return marks.length === 0 || (!text.includes('\\') && arePairs(marks))
}

function arePairs(marks: readonly string[]): boolean {
  let depth = 0
  let isQuoted = false
  for (const mark of marks) {
    if (mark === '"') isQuoted = !isQuoted
    else if (!isQuoted) depth += mark === '(' ? 1 : -1
    if (depth < 0) return false
  }
  return depth === 0 && !isQuoted
}

function quotedEnd(list: string, start: number): number {
  for (let at = start; at < list.length; at += 1) {
    const letter = list.charAt(at)
    if (letter === '"') return at
    if (letter === '\\') at += 1
  }
  return -1
}

/** Comments nest. */
function commentEnd(list: string, start: number): number {
  let depth = 1
  for (let at = start; at < list.length; at += 1) {
    const letter = list.charAt(at)
    const next = list.charAt(at + 1)
    // An escape may have a parenthesis, too, and a backslash before it is half of a character.
    if (letter === '\\' ? next !== ESC : letter === ESC && next === '(') at += 1
    else if (letter === '(') depth += 1
    else if (letter === ')') depth -= 1
    if (depth === 0) return at
  }
  return -1
}
