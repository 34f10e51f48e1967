import { createHash } from 'node:crypto'

const TAB = 9
const NEWLINE = 10
const RETURN = 13
const SPACE = 32
const BLOCK_BYTES = 64 * 1024

/**
 * The hash of a body in its relaxed form (RFC 6376 §3.4.4), piece by piece: blanks at the end of a line and empty lines at
 * the end of the body do not count, and a run of blanks counts as one space. Holds one block, however long the body is.
 */
export class RelaxedBodyHash {
  readonly #hash = createHash('sha256')
  readonly #block = Buffer.allocUnsafe(BLOCK_BYTES)
  #used = 0
  /** Line ends that count once something follows them. */
  #lineEnds = 0
  #isBlank = false
  #isAfterReturn = false
  #isEmpty = true

  update(bytes: Uint8Array): void {
    for (const byte of bytes) this.#take(byte)
  }

  /** In base64. A body that is not empty ends with a line end, whether it came with one or not. */
  digest(): string {
    if (this.#isAfterReturn) this.#putContent(RETURN)
    if (!this.#isEmpty) this.#putLineEnd()
    return this.#hash.update(this.#block.subarray(0, this.#used)).digest('base64')
  }

  #take(byte: number): void {
    if (byte === NEWLINE) {
      this.#isAfterReturn = false
      this.#isBlank = false
      this.#lineEnds += 1
      return
    }
    // Return is a character like others unless a newline follows it.
    if (this.#isAfterReturn) this.#putContent(RETURN)
    this.#isAfterReturn = byte === RETURN
    if (byte === SPACE || byte === TAB) this.#isBlank = true
    else if (byte !== RETURN) this.#putContent(byte)
  }

  #putContent(byte: number): void {
    for (; this.#lineEnds > 0; this.#lineEnds -= 1) this.#putLineEnd()
    if (this.#isBlank) this.#put(SPACE)
    this.#isBlank = false
    this.#isEmpty = false
    this.#put(byte)
  }

  #putLineEnd(): void {
    this.#put(RETURN)
    this.#put(NEWLINE)
  }

  #put(byte: number): void {
    if (this.#used === BLOCK_BYTES) {
      this.#hash.update(this.#block)
      this.#used = 0
    }
    this.#block[this.#used] = byte
    this.#used += 1
  }
}
