import type { Buffer } from 'node:buffer'

import { decodeText } from './mime/charsets.ts'
import type { Entity } from './mime/entities.ts'
import { unflowed } from './mime/flowed-text.ts'
import { decodeTransfer } from './mime/transfer-encoding.ts'
import { isBinaryText } from './readable-text.ts'

/** Of all text that a message shows, so much is decoded. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024
const MAX_TEXT_LINES = 185_000
/** The charsets of so many texts may be guessed. */
const MAX_GUESSES = 50
const LF = 0x0a
const SAMPLE = 256

/** Decodes the text of a message, part by part, until its bound. */
export class ShownText {
  readonly #bytes: Buffer
  #bytesLeft: number
  #linesLeft: number
  #decoded = 0
  /** The parts of which text was left out. */
  readonly cut: Entity[] = []

  constructor(
    bytes: Buffer,
    limits: { readonly bytes: number; readonly lines: number } = {
      bytes: MAX_TEXT_BYTES,
      lines: MAX_TEXT_LINES,
    },
  ) {
    this.#bytes = bytes
    this.#bytesLeft = limits.bytes
    this.#linesLeft = limits.lines
  }

  /** Its lines end in LF, the last one, too. */
  of(entity: Entity): string {
    const { type, contentType, transferEncoding, body } = entity
    const whole = this.#bytes.subarray(body.start, body.end)
    const sent = this.#take(whole)
    if (sent.length < whole.length) this.cut.push(entity)
    this.#decoded += 1
    const isHtml = type === 'text/html'
    const { parameters } = contentType
    const source = {
      declared: parameters.get('charset'),
      isHtml,
      guesses: this.#decoded <= MAX_GUESSES,
    }
    const read = decodeText(decodeTransfer(sent, transferEncoding), source)
    const decoded = isBinaryText(read) && isWords(sent) ? decodeText(sent, source) : read
    // Some programs end lines with two of the first.
    const lines = decoded.replaceAll('\r\n', '\n').replaceAll(/\r\n?/g, '\n')
    const isFlowed = !isHtml && parameters.get('format')?.trim().toLowerCase() === 'flowed'
    const delSp = parameters.get('delsp')?.trim().toLowerCase() === 'yes'
    const text = isFlowed ? unflowed(lines, { delSp }) : lines
    return text === '' || text.endsWith('\n') ? text : `${text}\n`
  }

  /** Whole lines, or the start of the first one where not even that may be decoded. */
  #take(body: Buffer): Buffer {
    let end = 0
    while (end < body.length && this.#linesLeft > 0) {
      const lineFeed = body.indexOf(LF, end)
      const next = lineFeed < 0 ? body.length : lineFeed + 1
      if (next > this.#bytesLeft) break
      this.#linesLeft -= 1
      end = next
    }
    if (end === 0 && this.#linesLeft > 0) end = Math.min(body.length, this.#bytesLeft) & ~3
    this.#bytesLeft = end < body.length ? 0 : this.#bytesLeft - end
    return body.subarray(0, end)
  }
}

/** Text that only says that it is base64 has blanks behind words of any length; of base64 they would part groups of four. */
function isWords(bytes: Buffer): boolean {
  const [line = ''] = bytes.toString('latin1', 0, SAMPLE).trimStart().split('\n', 1)
  const words = line.trim().split(/[ \t]+/)
  return words.slice(0, -1).some((word) => word.length % 4 !== 0)
}
