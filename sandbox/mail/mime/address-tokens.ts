import { EncodedWords } from './encoded-words.ts'

/** A piece of an address list (RFC 5322 §3.4). Quoted strings and comments come without what encloses them. */
export interface AddressToken {
  readonly kind: 'text' | 'quoted' | 'comment' | 'angle' | 'comma' | 'semicolon' | 'colon'
  readonly text: string
}

const KINDS: Readonly<Record<string, AddressToken['kind']>> = {
  ',': 'comma',
  ';': 'semicolon',
  ':': 'colon',
}

/** Splits an address list, in time linear to its length. What is not closed encloses nothing: it is a letter as others. */
export class AddressLexer {
  readonly #list: string
  readonly #words: EncodedWords
  readonly #tokens: AddressToken[] = []
  #text = ''
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
    if (special !== undefined) return this.#push({ kind: special, text: letter }, this.#at + 1)
    if (letter === '"' && this.#enclosed('quoted', quotedEnd)) return
    if (letter === '(' && this.#enclosed('comment', commentEnd)) return
    if (letter === '<') return this.#angle()
    // Without its opening bracket.
    if (letter === '>') this.#at += 1
    else this.#takeText(letter)
  }

  #takeText(letter: string): void {
    const list = this.#list
    let end = this.#at + 1
    if (letter === '=') end = this.#encodedWordEnd() ?? end
    // A domain literal: RFC 5321 §4.1.3.
    if (letter === '[' && list.charAt(this.#at - 1) === '@') {
      const literal = /^\[[\w.:-]{1,60}\]/.exec(list.slice(this.#at, this.#at + 64))
      end = this.#at + (literal?.[0].length ?? 1)
    }
    if (letter === '\\' && end < list.length) {
      this.#text += list.charAt(end)
      end += 1
    } else {
      this.#text += list.slice(this.#at, end)
    }
    this.#at = end
  }

  /** Commas and quotes in an encoded word are of it. A bracket is not: others may read an address there. */
  #encodedWordEnd(): number | undefined {
    const word = this.#words.at(this.#at)
    return word === undefined || /[<>]/.test(word.payload) ? undefined : word.end
  }

  #enclosed(kind: 'quoted' | 'comment', endOf: (list: string, start: number) => number): boolean {
    if (this.#unclosed.has(kind)) return false
    const end = endOf(this.#list, this.#at + 1)
    if (end < 0) {
      this.#unclosed.add(kind)
      return false
    }
    const text = this.#list.slice(this.#at + 1, end).replaceAll(/\\(.)/gs, '$1')
    this.#push({ kind, text }, end + 1)
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
    this.#push({ kind: 'angle', text: this.#list.slice(start, end) }, found ? end + 1 : end)
  }

  #push(token: AddressToken, next: number): void {
    this.#endText()
    this.#tokens.push(token)
    this.#at = next
  }

  #endText(): void {
    if (this.#text !== '') this.#tokens.push({ kind: 'text', text: this.#text })
    this.#text = ''
  }
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
    if (letter === '\\') at += 1
    else if (letter === '(') depth += 1
    else if (letter === ')') depth -= 1
    if (depth === 0) return at
  }
  return -1
}
