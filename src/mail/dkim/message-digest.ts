import { RelaxedBodyHash } from './body-hash.ts'

const MAX_HEAD_BYTES = 1024 * 1024
const NEWLINE = 10
const RETURN = 13

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
