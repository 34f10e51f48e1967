import { Buffer } from 'node:buffer'

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const TAB = 0x09
const DASH = 0x2d
const LINE_START = Buffer.from('\n--')
/** A delimiter that no Content-Type declares is looked for in so many multiparts of a message, and so many lines of each. */
const MAX_SEARCHES = 10
/** In search of delimiters a message is read as often as that: behind it, they are where they were declared to be. */
const MAX_READINGS = 4
const MAX_CANDIDATES = 5
const MAX_LENGTH = 260
/** What comes behind the first delimiter of a multipart: a field of a part, or an empty line. */
const PART = /^(?:content-[a-z-]{1,40}[ \t]*:|\r?\n)/i

export interface Delimiter {
  /** Of its line, and of the next one. */
  readonly start: number
  readonly end: number
  /** Of the multipart, the outermost being 0. */
  readonly depth: number
  readonly isClosing: boolean
}

interface LineEnd {
  /** Where it was looked for. */
  readonly start: number
  readonly end: number
  /** Without blanks at its end. */
  readonly textEnd: number
}

/** The delimiters of the multiparts that are open (RFC 2046 §5.1.1). */
export class Delimiters {
  readonly #bytes: Buffer
  readonly #boundaries: string[] = []
  /** The depths that a boundary is used at, the innermost last. */
  readonly #depths = new Map<string, number[]>()
  #lastLine: LineEnd = { start: 0, end: 0, textEnd: 0 }
  #searches = 0
  #searchedBytes = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  open(boundary: Buffer): void {
    const name = boundary.toString('latin1')
    const depths = this.#depths.get(name)
    if (depths) depths.push(this.#boundaries.length)
    else this.#depths.set(name, [this.#boundaries.length])
    this.#boundaries.push(name)
  }

  /** Closes the innermost multipart. */
  close(): void {
    const name = this.#boundaries.pop() ?? ''
    const depths = this.#depths.get(name)
    depths?.pop()
    if (depths?.length === 0) this.#depths.delete(name)
  }

  /** The first one in a line that begins there or later; a line must begin there. */
  next(from: number): Delimiter | undefined {
    const first = this.at(from)
    if (first) return first
    for (let at = this.#lineStart(from); at !== undefined; at = this.#lineStart(at)) {
      const delimiter = this.at(at)
      if (delimiter) return delimiter
    }
    return undefined
  }

  at(start: number): Delimiter | undefined {
    if (this.#bytes[start] !== DASH || this.#bytes[start + 1] !== DASH) return undefined
    const { text, end } = this.#line(start)
    const depth = this.#depths.get(text)?.at(-1)
    if (depth !== undefined) return { start, end, depth, isClosing: false }
    const closed = text.endsWith('--') ? this.#depths.get(text.slice(0, -2))?.at(-1) : undefined
    return closed === undefined ? undefined : { start, end, depth: closed, isClosing: true }
  }

  /** The boundary if it is used behind that place, or else one that is; undefined when there is none. */
  used(declared: Buffer, from: number): Buffer | undefined {
    const given = declared.length === 0 ? undefined : declared
    const isExhausted =
      this.#searches >= MAX_SEARCHES || this.#searchedBytes > MAX_READINGS * this.#bytes.length
    if (isExhausted || (given && this.#has(`--${given.toString('latin1')}`, from))) return given
    this.#searches += 1
    return this.#undeclared(from)
  }

  #has(text: string, from: number): boolean {
    const found = this.#bytes.indexOf(text, from, 'latin1')
    this.#searchedBytes += (found < 0 ? this.#bytes.length : found) - from
    return found >= 0
  }

  #undeclared(from: number): Buffer | undefined {
    let at: number | undefined = from
    for (let count = 0; count < MAX_CANDIDATES && at !== undefined; count += 1) {
      const { text, end } = this.#line(at)
      const isDashed = this.#bytes[at] === DASH && this.#bytes[at + 1] === DASH
      if (isDashed && this.at(at)) return undefined
      const isPart = isDashed && PART.test(this.#bytes.toString('latin1', end, end + 50))
      if (isPart && text !== '' && this.#has(`\n--${text}`, end - 1)) {
        return Buffer.from(text, 'latin1')
      }
      at = this.#lineStart(at)
    }
    return undefined
  }

  /** Of the next line that begins with two dashes. */
  #lineStart(from: number): number | undefined {
    const found = this.#bytes.indexOf(LINE_START, from)
    return found < 0 ? undefined : found + 1
  }

  /** What a line has behind its dashes, without blanks at its end. */
  #line(start: number): { readonly text: string; readonly end: number } {
    const { end, textEnd } = this.#lineEnd(start)
    return {
      text: textEnd - start > MAX_LENGTH ? '' : this.#bytes.toString('latin1', start + 2, textEnd),
      end,
    }
  }

  /** Kept for the last line: in a header, CR alone ends a line, so that it is asked for many places in one. */
  #lineEnd(start: number): LineEnd {
    if (start < this.#lastLine.start || start >= this.#lastLine.end) {
      const lineFeed = this.#bytes.indexOf(LF, start)
      const end = lineFeed < 0 ? this.#bytes.length : lineFeed + 1
      let textEnd = end
      while (textEnd > start && isBlank(this.#bytes[textEnd - 1] ?? 0)) textEnd -= 1
      this.#lastLine = { start, end, textEnd }
    }
    return this.#lastLine
  }
}

const isBlank = (byte: number): boolean =>
  byte === SPACE || byte === TAB || byte === LF || byte === CR
