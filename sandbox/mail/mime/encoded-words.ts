import { Buffer } from 'node:buffer'

import { decodeText } from './charsets.ts'
import { base64Bytes, decodeQuotedPrintable } from './transfer-encoding.ts'

const MAX_LABEL_LENGTH = 100
/** More are left as they are. */
const MAX_WORDS = 500
const BLANK = /^\s*$/
const ASCII = /^[\0-\x7F]*$/

interface EncodedWord {
  readonly start: number
  readonly end: number
  readonly charset: string
  readonly isBase64: boolean
  readonly payload: string
}

/**
 * Text with its encoded words (RFC 2047) decoded, wherever they are: in quoted strings and beside other letters, too. Blanks
 * between two of them are left out; words of one charset are decoded together, as a character may be cut between them.
 */
export function decodeEncodedWords(text: string): string {
  const words = new EncodedWords(text)
  const decoded: string[] = []
  let run: EncodedWord[] = []
  let last = 0
  let count = 0
  for (let word = words.next(0); word && count < MAX_WORDS; word = words.next(word.end)) {
    count += 1
    const between = text.slice(last, word.start)
    const isAdjacent = run.length > 0 && BLANK.test(between)
    if (!isAdjacent || run[0]?.charset !== word.charset) {
      decoded.push(decodeRun(run), isAdjacent ? '' : between)
      run = []
    }
    run.push(word)
    last = word.end
  }
  return [...decoded, decodeRun(run), text.slice(last)].join('')
}

/** Finds the encoded words of a text from left to right, in time linear to its length. */
export class EncodedWords {
  readonly #text: string
  #closing = 0

  constructor(text: string) {
    this.#text = text
  }

  next(from: number): EncodedWord | undefined {
    for (let at = this.#text.indexOf('=?', from); at >= 0; at = this.#text.indexOf('=?', at + 2)) {
      const word = this.at(at)
      if (word) return word
      if (this.#closing < 0) return undefined
    }
    return undefined
  }

  /** The word that starts there, which must be behind those that were found before. */
  at(start: number): EncodedWord | undefined {
    const text = this.#text
    if (!text.startsWith('=?', start)) return undefined
    const label = text.slice(start + 2, start + 2 + MAX_LABEL_LENGTH)
    const labelEnd = label.search(/[?\s]/)
    const encoding = label.charAt(labelEnd + 1).toLowerCase()
    const from = start + labelEnd + 5
    const isWord = labelEnd > 0 && label.charAt(labelEnd) === '?' && /^[bq]$/.test(encoding)
    if (!isWord || text.charAt(from - 1) !== '?') return undefined
    const end = this.#closingAfter(from)
    // Another word that begins before the end: this one has none.
    const another = end < 0 ? -1 : text.slice(from, end).indexOf('=?')
    if (end < 0 || another >= 0) return undefined
    return {
      start,
      end: end + 2,
      charset: label.slice(0, labelEnd).toLowerCase(),
      isBase64: encoding === 'b',
      payload: text.slice(from, end),
    }
  }

  #closingAfter(from: number): number {
    if (this.#closing >= 0 && this.#closing < from) this.#closing = this.#text.indexOf('?=', from)
    return this.#closing
  }
}

function decodeRun(run: readonly EncodedWord[]): string {
  const [first] = run
  if (!first) return ''
  const pieces: Buffer[] = []
  let base64 = ''
  for (const { isBase64, payload } of run) {
    if (isBase64) {
      base64 += payload
      continue
    }
    pieces.push(base64Bytes(Buffer.from(base64)), decodeQ(payload))
    base64 = ''
  }
  pieces.push(base64Bytes(Buffer.from(base64)))
  return decodeText(Buffer.concat(pieces), { declared: first.charset })
}

/** RFC 2047 §4.2. */
function decodeQ(payload: string): Buffer {
  const text = payload.replaceAll('_', ' ')
  return decodeQuotedPrintable(Buffer.from(text, ASCII.test(text) ? 'latin1' : 'utf8'))
}
