import { type Hash, createHash } from 'node:crypto'

import { joinChunks } from '#base/chunks.ts'
import { HEADER_BLOCK_BYTES } from '#mail/headers/header-fields.ts'
import { LineEndings } from '#platform/smtp-server/line-endings.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

/** A header this long has nothing to say to a person, and mailauth holds all of it. */
const LAST_HEADER_BYTE = 2 * 1024 * 1024

/** RFC 5321 §6.3: a hundred hops are a loop. */
const MAX_RECEIVED = 100
const [TAB, LF, CR, SPACE, COLON, DELETE] = [0x09, 0x0a, 0x0d, 0x20, 0x3a, 0x7f]

/** Longer names are not counted. */
const LONGEST_NAME = 16

/** A message on its way in: passes its bytes on, and knows their size, digest and header. Refuses what no site takes. */
export class IncomingMessage {
  sizeBytes = 0
  readonly #maxBytes: number
  readonly #hash: Hash = createHash('sha256')
  readonly #lineEndings = new LineEndings()
  readonly #head: Uint8Array[] = []
  #headBytes = 0
  readonly #fields = new FieldCounter()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  async *read(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      this.#take(chunk)
      yield chunk
    }
    if (this.#fields.count('received') > MAX_RECEIVED) {
      throw new SmtpReply(554, '5.4.6', 'This message went through too many servers: a loop')
    }
    if (this.#fields.count('from') > 1) throw severalAuthors()
  }

  /** The first 256 KiB, or less when the message has less: the header, and maybe more. */
  headerBlock(): Uint8Array {
    return joinChunks(this.#head)
  }

  /** Of all bytes; to be called once. */
  digest(): Buffer {
    return this.#hash.digest()
  }

  #take(chunk: Uint8Array): void {
    this.sizeBytes += chunk.length
    if (this.sizeBytes > this.#maxBytes) throw tooLarge(this.#maxBytes)
    this.#lineEndings.check(chunk)
    this.#hash.update(chunk)
    if (this.#headBytes < HEADER_BLOCK_BYTES) {
      this.#head.push(chunk.subarray(0, HEADER_BLOCK_BYTES - this.#headBytes))
      this.#headBytes += chunk.length
    }
    this.#fields.take(chunk)
    if (!this.#fields.headerEnded && this.sizeBytes > LAST_HEADER_BYTE) {
      throw new SmtpReply(552, '5.3.4', `The header is longer than ${LAST_HEADER_BYTE} bytes`)
    }
  }
}

export const tooLarge = (maxBytes: number): SmtpReply =>
  new SmtpReply(552, '5.3.4', `The message is larger than ${maxBytes} bytes`)

/** RFC 5322 §3.6 allows one. DMARC has no result for several (RFC 9989 §5.3.1), and a reader sees any of them. */
const severalAuthors = (): SmtpReply =>
  new SmtpReply(550, '5.7.1', 'The message has more than one From field: send it with one')

/**
 * Counts the fields of a header by their names while its bytes come, in lines that end with CRLF. A name counts in any case,
 * with blanks or folding before its colon, and with bytes in it that no name may have (RFC 5322 §3.6.8): there are programs
 * that show what such fields say.
 */
class FieldCounter {
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
