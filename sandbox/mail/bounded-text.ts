import { Buffer } from 'node:buffer'

/** Of all text that a message shows, so much is parsed: each line takes about 2.5 KB of the parser, whatever is in it. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024
const MAX_TEXT_LINES = 185_000
/** A longer header block is not looked into. */
const MAX_HEADER_BYTES = 64 * 1024
const LF = 0x0a
const DELIMITER = Buffer.from('\n--')

export interface BoundedMail {
  readonly raw: Buffer
  /** Whether text was left out. */
  readonly isCut: boolean
}

/**
 * The message without the text beyond what is parsed. Headers, boundaries and attachments stay whole. A structure that is not
 * understood is left as it is.
 */
export function boundedText(
  raw: Buffer,
  limits: { readonly bytes: number; readonly lines: number } = {
    bytes: MAX_TEXT_BYTES,
    lines: MAX_TEXT_LINES,
  },
): BoundedMail {
  if (raw.length <= limits.bytes && hasAtMost(raw, limits.lines)) return { raw, isCut: false }
  return new TextCut(raw, limits).run()
}

function hasAtMost(raw: Buffer, lines: number): boolean {
  let at = -1
  for (let count = 0; count <= lines; count += 1) {
    at = raw.indexOf(LF, at + 1)
    if (at < 0) return true
  }
  return false
}

/** One walk over the lines of a message. */
class TextCut {
  readonly #raw: Buffer
  readonly #boundaries: Buffer[] = []
  readonly #kept: Buffer[] = []
  /** Where what is kept and not copied begins. */
  #keptFrom = 0
  #bytesLeft: number
  #linesLeft: number
  #headerFrom: number | undefined = 0
  #isText = false

  constructor(raw: Buffer, { bytes, lines }: { readonly bytes: number; readonly lines: number }) {
    this.#raw = raw
    this.#bytesLeft = bytes
    this.#linesLeft = lines
  }

  run(): BoundedMail {
    for (let start = 0; start < this.#raw.length;) start = this.#line(start)
    if (this.#kept.length === 0) return { raw: this.#raw, isCut: false }
    this.#kept.push(this.#raw.subarray(this.#keptFrom))
    return { raw: Buffer.concat(this.#kept), isCut: true }
  }

  /** Takes the line that begins there, and gives where the next one does. */
  #line(start: number): number {
    const lineEnd = this.#raw.indexOf(LF, start)
    const end = lineEnd < 0 ? this.#raw.length : lineEnd + 1
    const delimiter = this.#delimiter(start, end)
    if (delimiter !== undefined) {
      this.#headerFrom = delimiter === 'part' ? end : undefined
      this.#isText = false
    } else if (this.#headerFrom !== undefined) {
      if (isBlank(this.#raw.subarray(start, end))) this.#readHeader(this.#headerFrom, start)
    } else if (this.#isText) {
      this.#bytesLeft -= end - start
      this.#linesLeft -= 1
      if (this.#bytesLeft < 0 || this.#linesLeft < 0) return this.#leaveOut(start)
    }
    return end
  }

  #delimiter(start: number, end: number): 'part' | 'end' | undefined {
    if (this.#raw[start] !== 0x2d || this.#raw[start + 1] !== 0x2d) return undefined
    const line = this.#raw.subarray(start + 2, end)
    for (const boundary of this.#boundaries) {
      if (!line.subarray(0, boundary.length).equals(boundary)) continue
      const rest = line.subarray(boundary.length).toString('latin1').trim()
      if (rest === '') return 'part'
      if (rest === '--') return 'end'
    }
    return undefined
  }

  #readHeader(from: number, to: number): void {
    this.#headerFrom = undefined
    const { boundary, isText } = partKind(
      this.#raw.subarray(from, Math.min(to, from + MAX_HEADER_BYTES)),
    )
    if (boundary !== undefined) this.#boundaries.push(Buffer.from(boundary))
    this.#isText = isText
  }

  /** Goes on at the next boundary, or at the end. */
  #leaveOut(start: number): number {
    this.#kept.push(this.#raw.subarray(this.#keptFrom, start))
    this.#keptFrom = this.#nextBoundary(start)
    return this.#keptFrom
  }

  #nextBoundary(start: number): number {
    if (this.#boundaries.length === 0) return this.#raw.length
    for (let at = this.#raw.indexOf(DELIMITER, start - 1); at >= 0;) {
      const lineStart = at + 1
      const lineEnd = this.#raw.indexOf(LF, lineStart)
      const end = lineEnd < 0 ? this.#raw.length : lineEnd + 1
      if (this.#delimiter(lineStart, end) !== undefined) return lineStart
      at = this.#raw.indexOf(DELIMITER, lineStart)
    }
    return this.#raw.length
  }
}

const isBlank = (line: Buffer): boolean => line.length <= 2 && line.toString('latin1').trim() === ''

function partKind(header: Buffer): {
  readonly boundary: string | undefined
  readonly isText: boolean
} {
  const fields = header
    .toString('latin1')
    .replaceAll(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
  const valueOf = (name: string): string =>
    fields
      .find((field) => field.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim() ?? ''
  const type = valueOf('content-type')
  const [, quoted, plain] =
    /^multipart\/.*;\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;"]+))/i.exec(type) ?? []
  const isShown = !/^attachment\b/i.test(valueOf('content-disposition'))
  return {
    boundary: quoted ?? plain,
    isText: isShown && (type === '' || /^text\/(?:plain|html)\b/i.test(type)),
  }
}
