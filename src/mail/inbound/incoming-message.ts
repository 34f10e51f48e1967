import { type Hash, createHash } from 'node:crypto'

import { joinPieces } from '#base/pieces.ts'
import { HEADER_BLOCK_BYTES } from '#mail/headers/header-fields.ts'
import { LineEndings } from '#platform/smtp-server/line-endings.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

import { FieldCounter } from './field-counter.ts'

/** A header this long has nothing to say to a person, and mailauth holds all of it. */
const LAST_HEADER_BYTE = 2 * 1024 * 1024
/** RFC 5321 §6.3: a hundred hops are a loop. */
const MAX_RECEIVED = 100

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
    return joinPieces(this.#head)
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
