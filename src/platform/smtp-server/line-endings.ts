import { SmtpReply } from './smtp-reply.ts'

const LF = 0x0a
const CR = 0x0d

/**
 * Watches the line endings of a message as it comes. RFC 5321 §2.3.8: CR and LF occur together alone. What another server
 * takes for the end of a message, and this one does not, could hide a second message in the first.
 */
export class LineEndings {
  #afterCr = false

  /** Throws a 554 at the first CR or LF by itself. */
  check(chunk: Uint8Array): void {
    let from = this.#finishLine(chunk)
    for (;;) {
      const cr = chunk.indexOf(CR, from)
      const lf = chunk.indexOf(LF, from)
      if (cr < 0 && lf < 0) return
      this.#afterCr = lf < 0 && cr === chunk.length - 1
      if (this.#afterCr) return
      if (cr < 0 || lf !== cr + 1) throw bareLineEnding()
      from = lf + 1
    }
  }

  /** Where the chunk goes on after the LF that belongs to a CR of the one before. */
  #finishLine(chunk: Uint8Array): number {
    if (!this.#afterCr || chunk.length === 0) return 0
    if (chunk[0] !== LF) throw bareLineEnding()
    this.#afterCr = false
    return 1
  }
}

const bareLineEnding = (): SmtpReply =>
  new SmtpReply(554, '5.6.0', 'A line ends in CR or LF alone, not in CRLF (RFC 5321 section 2.3.8)')
