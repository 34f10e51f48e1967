/** `mappings` of a source map (ECMA-426), decoded. Each segment is four numbers: column, source, line, column there; all from 0. */
export interface Mappings {
  /** Index of each generated line's first segment, and the number of all at the end. */
  readonly lineStarts: Int32Array
  readonly segments: Int32Array
}

export const NUMBERS = 4
/** Characters that are decoded without letting others run: about a millisecond. */
const STRETCH = 128 * 1024
const FIRST_SEGMENTS = 4096
const SEMICOLON = 59
const COMMA = 44
const CONTINUED = 32

const DIGITS = digitTable()

/** Decodes in stretches; `undefined` when the text is not as the specification has it. Segments that lead nowhere have source -1. */
export function* decodeMappings(text: string): Generator<void, Mappings | undefined> {
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
