const [TAB, LF, CR, SPACE, COLON, DELETE] = [0x09, 0x0a, 0x0d, 0x20, 0x3a, 0x7f]
/** Longer names are not counted. */
const LONGEST_NAME = 16

/**
 * Counts the fields of a header by their names while its bytes come, in lines that end with CRLF. A name counts in any case,
 * with blanks or folding before its colon, and with bytes in it that no name may have (RFC 5322 §3.6.8): there are programs
 * that show what such fields say.
 */
export class FieldCounter {
  headerEnded = false
  readonly #counts = new Map<string, number>()
  #isLineStart = true
  /** Undefined within a value. */
  #name: string | undefined = ''

  /** Of a name in lower case. */
  count(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  take(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && !this.headerEnded; at += 1) {
      if (this.#isLineStart || this.#name !== undefined) {
        this.#read(chunk[at] ?? LF)
        continue
      }
      at = chunk.indexOf(LF, at)
      if (at < 0) return
      this.#isLineStart = true
    }
  }

  #read(byte: number): void {
    if (this.#isLineStart) this.#beginLine(byte)
    if (byte === LF) this.#isLineStart = true
    else if (this.#name !== undefined) this.#readName(this.#name, byte)
  }

  /** A line that begins with a blank goes on with the field before it. */
  #beginLine(byte: number): void {
    this.#isLineStart = false
    this.headerEnded = byte === CR
    if (byte !== SPACE && byte !== TAB) this.#name = ''
  }

  #readName(name: string, byte: number): void {
    if (byte === COLON) {
      this.#counts.set(name, this.count(name) + 1)
      this.#name = undefined
    } else if (name.length > LONGEST_NAME) this.#name = undefined
    else if (byte > SPACE && byte < DELETE) this.#name += String.fromCharCode(byte).toLowerCase()
  }
}
