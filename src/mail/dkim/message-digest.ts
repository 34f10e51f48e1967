import { createHash } from 'node:crypto'

const MAX_HEAD_BYTES = 1024 * 1024
const NEWLINE = 10
const RETURN = 13

const TAB = 9
const SPACE = 32
const BLOCK_BYTES = 64 * 1024

/** What of a message is signed. */
export interface MessageDigest {
  /** Every field, a character a byte. */
  readonly head: string
  /** In base64. */
  readonly bodyHash: string
}

/** Reads a message once, from its first byte to its last. Rejects when its head is longer than 1 MiB. */
export async function digestMessage(
  message: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<MessageDigest> {
  const head = new MessageHead()
  const body = new RelaxedBodyHash()
  for await (const chunk of message) body.update(head.take(chunk))
  return { head: head.text(), bodyHash: body.digest() }
}

/** Keeps what comes before the first empty line. */
class MessageHead {
  readonly #chunks: Uint8Array[] = []
  #sizeBytes = 0
  #lineBytes = 0
  #isWhole = false

  /** Returns what of the bytes belongs to the body. */
  take(bytes: Uint8Array): Uint8Array {
    if (this.#isWhole) return bytes
    const end = this.#endIn(bytes)
    this.#chunks.push(bytes.slice(0, end))
    this.#sizeBytes += end
    if (this.#sizeBytes > MAX_HEAD_BYTES)
      throw new Error('The head of a message is too long to sign')
    return bytes.subarray(end)
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('latin1')
  }

  /** Behind the empty line, or behind all of the bytes. */
  #endIn(bytes: Uint8Array): number {
    for (const [at, byte] of bytes.entries()) {
      if (byte !== NEWLINE) {
        if (byte !== RETURN) this.#lineBytes += 1
        continue
      }
      this.#isWhole = this.#lineBytes === 0
      if (this.#isWhole) return at + 1
      this.#lineBytes = 0
    }
    return bytes.length
  }
}

/**
 * The hash of a body in its relaxed form (RFC 6376 §3.4.4), piece by piece: blanks at the end of a line and empty lines at
 * the end of the body do not count, and a run of blanks counts as one space. Holds one block, however long the body is.
 */
class RelaxedBodyHash {
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
