import { Buffer, isUtf8 } from 'node:buffer'

import { decodeText } from './charsets.ts'
import { detectedCharset } from './detected-charset.ts'

const LF = 0x0a
const CR = 0x0d
const TAB = 0x09
const SPACE = 0x20
const COLON = 0x3a
const DASH = 0x2d
const MAX_NAME_LENGTH = 200
/** Blanks before the colon are of old mailers. */
const MAX_BLANKS = 20
/** Of one name; RFC 5322 §3.6 has one of nearly all. */
const MAX_FIELDS = 100
/** Of so many fields the statistics are looked at: it takes a millisecond each. */
const MAX_GUESSES = 3

/** A range of bytes. */
export interface OctetRange {
  readonly start: number
  readonly end: number
}

export interface HeaderBlockOptions {
  readonly start?: number
  /** No byte behind it is looked at. */
  readonly end?: number
  /** Whether a delimiter of a multipart starts there: it ends the block, too. */
  readonly isDelimiter?: (start: number) => boolean
}

/** The fields of a header block by name in lower case, in the order in which they were sent. Nothing is copied before it is read. */
export class HeaderFields {
  readonly #bytes: Buffer
  readonly #values = new Map<string, OctetRange[]>()
  #guesses = 0
  #charset: string | undefined
  /** Where the body starts: behind the first empty line. */
  readonly bodyStart: number
  /** Where lines begin that are no field, behind the last field: where the empty line is missing, the body starts there. */
  readonly unreadable: number | undefined

  /** Lines that are no field are left out (RFC 5322 §3.6.8 says what is one). */
  constructor(bytes: Uint8Array, options: HeaderBlockOptions = {}) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const { start = 0, end = bytes.length, isDelimiter = () => false } = options
    const { bodyStart, unreadable } = this.#read({ start, end }, isDelimiter)
    this.bodyStart = bodyStart
    this.unreadable = unreadable
  }

  get isEmpty(): boolean {
    return this.#values.size === 0
  }

  /** How many fields have that name. */
  count(name: string): number {
    return this.#values.get(name)?.length ?? 0
  }

  /** What the fields of that name hold, unfolded, each decoded by itself: of the first hundred. */
  texts(name: string, options: FieldTextOptions = {}): readonly string[] {
    return this.#ofName(name, options).map((bytes) => {
      const declared = options.charset ?? this.#guessed(bytes, options)
      return decodeText(bytes, { declared }).replaceAll(/[\r\n]/g, '')
    })
  }

  /** The same as they were sent, one character a byte, for what must be split before its characters are read. */
  octets(name: string, options: FieldTextOptions = {}): FieldOctets {
    const found = this.#ofName(name, options)
    const guesses = found.map((bytes) => this.#guessed(bytes, options))
    const declared = options.charset ?? guesses.find((charset) => charset !== undefined)
    return {
      values: found.map((bytes) => bytes.toString('latin1').replaceAll(/[\r\n]/g, '')),
      decode: (octets) => decodeText(Buffer.from(octets, 'latin1'), { declared }),
    }
  }

  /** The first of them; empty when there is none. */
  text(name: string, options: FieldTextOptions = {}): string {
    return this.texts(name, options)[0] ?? ''
  }

  /** The first of them as it was sent, one character a byte, unfolded. */
  latin1(name: string): string {
    const [range] = this.#values.get(name) ?? []
    if (!range) return ''
    return this.#bytes.toString('latin1', range.start, range.end).replaceAll(/[\r\n]/g, '')
  }

  #ofName(name: string, options: FieldTextOptions): Buffer[] {
    const found: Buffer[] = []
    let left = options.maxBytes ?? this.#bytes.length
    for (const { start, end } of (this.#values.get(name) ?? []).slice(0, MAX_FIELDS)) {
      if (left <= 0) break
      const bytes = this.#bytes.subarray(start, Math.min(end, start + left))
      found.push(bytes)
      left -= bytes.length + 1
    }
    return found
  }

  /** Fields of one block are mostly of one charset. */
  #guessed(bytes: Buffer, { guesses = false }: FieldTextOptions): string | undefined {
    if (!guesses || isUtf8(bytes)) return undefined
    if (this.#guesses < MAX_GUESSES) this.#charset ??= detectedCharset(bytes)
    this.#guesses += 1
    return this.#charset
  }

  #read(
    { start, end }: OctetRange,
    isDelimiter: (start: number) => boolean,
  ): { readonly bodyStart: number; readonly unreadable: number | undefined } {
    let open: FieldStart | undefined
    let unreadable: number | undefined
    let last = start
    for (let at = start; at < end;) {
      const line = lineAt(this.#bytes, at, end)
      if (line.isEmpty || (this.#bytes[at] === DASH && isDelimiter(at))) {
        this.#add(open, last)
        return { bodyStart: line.isEmpty ? line.next : at, unreadable }
      }
      if (!isBlank(this.#bytes[at] ?? 0)) {
        this.#add(open, last)
        open = this.#fieldAt(at, line.end)
        unreadable = open ? undefined : (unreadable ?? at)
      }
      last = line.end
      at = line.next
    }
    this.#add(open, last)
    return { bodyStart: end, unreadable }
  }

  #add(field: FieldStart | undefined, end: number): void {
    if (!field) return
    const values = this.#values.get(field.name)
    if (values) values.push({ start: field.start, end })
    else this.#values.set(field.name, [{ start: field.start, end }])
  }

  #fieldAt(start: number, end: number): FieldStart | undefined {
    const limit = Math.min(end, start + MAX_NAME_LENGTH + MAX_BLANKS)
    let nameEnd = start
    while (nameEnd < limit && isNameByte(this.#bytes[nameEnd] ?? 0)) nameEnd += 1
    let colon = nameEnd
    while (colon < limit && isBlank(this.#bytes[colon] ?? 0)) colon += 1
    if (nameEnd === start || colon >= limit || this.#bytes[colon] !== COLON) return undefined
    return { name: this.#bytes.toString('latin1', start, nameEnd).toLowerCase(), start: colon + 1 }
  }
}

interface FieldStart {
  readonly name: string
  /** Of its value. */
  readonly start: number
}

export interface FieldOctets {
  readonly values: readonly string[]
  /** Reads any piece of them. */
  readonly decode: (octets: string) => string
}

interface FieldTextOptions {
  /** Of all fields of that name, no more is read. */
  readonly maxBytes?: number
  /** What raw bytes are read as that are not UTF-8. */
  readonly charset?: string | undefined
  /** Whether their statistics may say what they are. */
  readonly guesses?: boolean
}

const isNameByte = (byte: number): boolean => byte > SPACE && byte < 0x7f && byte !== COLON
const isBlank = (byte: number): boolean => byte === SPACE || byte === TAB

/** A line ends in LF with any CR before it. CR alone ends a line, too, but makes none that is empty. */
function lineAt(
  bytes: Uint8Array,
  start: number,
  limit: number,
): { readonly end: number; readonly next: number; readonly isEmpty: boolean } {
  let end = start
  while (end < limit && bytes[end] !== LF && bytes[end] !== CR) end += 1
  let next = end
  while (next < limit && bytes[next] === CR) next += 1
  const isWhole = next >= limit || bytes[next] === LF
  return { end, next: isWhole ? next + 1 : next, isEmpty: isWhole && end === start }
}
