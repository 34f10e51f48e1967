import { setImmediate as othersRun } from 'node:timers/promises'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const NUMBERS = 4

/** Characters that are decoded without letting others run: about a millisecond. */
const STRETCH = 128 * 1024
const FIRST_SEGMENTS = 4096
const SEMICOLON = 59
const COMMA = 44
const CONTINUED = 32

/** A file's source map, ready to be asked. */
export interface SourceMap {
  /** Relative to the folder of the file. */
  readonly sources: readonly string[]
  /** The texts of those that the map brings. */
  readonly contents: readonly (string | null)[]
  readonly mappings: Mappings
}

/** Both from 1, as V8 writes them. */
export interface Position {
  readonly line: number
  readonly column: number
}

const Format = Type.Object({
  version: Type.Literal(3),
  sources: Type.Array(Type.String(), { maxItems: 20_000 }),
  sourcesContent: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Null()]))),
  mappings: Type.String(),
})

/** `mappings` of a source map (ECMA-426), decoded. Each segment is four numbers: column, source, line, column there; all from 0. */
interface Mappings {
  /** Index of each generated line's first segment, and the number of all at the end. */
  readonly lineStarts: Int32Array
  readonly segments: Int32Array
}

/** Reads a source map that a site brought; undefined when it is none. Yields to other work. */
export async function readSourceMap(text: string): Promise<SourceMap | undefined> {
  const content = parsed(text)
  if (!Value.Check(Format, content)) return undefined
  const decoding = decodeMappings(content.mappings)
  for (;;) {
    const step = decoding.next()
    if (step.done !== true) {
      await othersRun()
      continue
    }
    const { sources, sourcesContent: contents = [] } = content
    return step.value && { sources, contents, mappings: step.value }
  }
}

export interface OriginalPosition extends Position {
  readonly source: string
  /** The text of the source, if the map brings it. */
  readonly content: string | undefined
}

/** The source position of a position in the code; undefined for what the bundler added. */
export function originalPosition(
  { sources, contents, mappings }: SourceMap,
  { line, column }: Position,
): OriginalPosition | undefined {
  const at = lastSegment(mappings, line - 1, column - 1)
  if (at < 0) return undefined
  const [, sourceIndex = -1, sourceLine = 0, sourceColumn = 0] = mappings.segments.subarray(
    at * NUMBERS,
    (at + 1) * NUMBERS,
  )
  const source = sources[sourceIndex]
  return source === undefined
    ? undefined
    : {
        source,
        line: sourceLine + 1,
        column: sourceColumn + 1,
        content: contents[sourceIndex] ?? undefined,
      }
}

/** Roughly what it keeps in memory, in bytes. */
export const sizeOfMap = ({ sources, contents, mappings }: SourceMap): number =>
  mappings.segments.byteLength +
  mappings.lineStarts.byteLength +
  [...sources, ...contents].reduce((sum, text) => sum + (text?.length ?? 0) * 2 + 16, 256)

/** The last one on the line that does not begin after the column; -1 when there is none. */
function lastSegment({ lineStarts, segments }: Mappings, line: number, column: number): number {
  const first = lineStarts[line]
  const end = lineStarts[line + 1]
  if (first === undefined || end === undefined) return -1
  let [low, high] = [first, end]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((segments[middle * NUMBERS] ?? 0) <= column) low = middle + 1
    else high = middle
  }
  return low - 1 < first ? -1 : low - 1
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Decodes in stretches; `undefined` when the text is not as the specification has it. Segments without a target have source -1. */
function* decodeMappings(text: string): Generator<void, Mappings | undefined> {
  const decoder = new MappingsDecoder()
  for (let from = 0; from < text.length; from += STRETCH) {
    if (from > 0) yield
    for (let at = from; at < Math.min(text.length, from + STRETCH); at += 1) {
      if (!decoder.push(text.charCodeAt(at))) return undefined
    }
  }
  return decoder.finish()
}

class MappingsDecoder {
  /** Column, source, line, column there, name: each relative to the one before. */
  readonly #state = new Int32Array(NUMBERS + 1)
  readonly #lineStarts: number[] = [0]
  #segments = new Int32Array(FIRST_SEGMENTS * NUMBERS)
  #count = 0
  /** Numbers of the segment so far, and the digits of the next one. */
  #field = 0
  #value = 0
  #shift = 0

  /** False for what does not belong there. */
  push(code: number): boolean {
    if (code === COMMA || code === SEMICOLON) {
      if (!this.#endSegment()) return false
      if (code === SEMICOLON) {
        this.#state[0] = 0
        this.#lineStarts.push(this.#count)
      }
      return true
    }
    const digit = DIGITS[code] ?? -1
    if (digit < 0 || this.#shift > 30 || this.#field > NUMBERS) return false
    this.#value += (digit & 31) * 2 ** this.#shift
    this.#shift += 5
    if ((digit & CONTINUED) === 0) this.#endNumber()
    return true
  }

  finish(): Mappings | undefined {
    if (!this.#endSegment()) return undefined
    this.#lineStarts.push(this.#count)
    return {
      lineStarts: Int32Array.from(this.#lineStarts),
      segments: this.#segments.slice(0, this.#count * NUMBERS),
    }
  }

  #endNumber(): void {
    const magnitude = Math.floor(this.#value / 2)
    const before = this.#state[this.#field] ?? 0
    this.#state[this.#field] = before + (this.#value % 2 === 1 ? -magnitude : magnitude)
    this.#field += 1
    this.#value = 0
    this.#shift = 0
  }

  #endSegment(): boolean {
    if (this.#shift > 0 || this.#field === 2 || this.#field === 3) return false
    if (this.#field > 0) this.#add(this.#field > 1)
    this.#field = 0
    return true
  }

  #add(leadsSomewhere: boolean): void {
    if ((this.#count + 1) * NUMBERS > this.#segments.length) {
      const larger = new Int32Array(this.#segments.length * 2)
      larger.set(this.#segments)
      this.#segments = larger
    }
    const at = this.#count * NUMBERS
    this.#segments.set(this.#state.subarray(0, NUMBERS), at)
    if (!leadsSomewhere) this.#segments[at + 1] = -1
    this.#count += 1
  }
}

function digitTable(): Int8Array {
  const table = new Int8Array(128).fill(-1)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  for (let digit = 0; digit < alphabet.length; digit += 1) table[alphabet.charCodeAt(digit)] = digit
  return table
}

const DIGITS = digitTable()
