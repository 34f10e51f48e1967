import type { MailTransport, RawMail } from './mail-transport.ts'
import type { Outbox } from './outbox.ts'

/** The transport of an installation without a gateway: mail is kept where the operator reads it. */
export class CapturingMailTransport implements MailTransport {
  readonly delivers = false
  readonly #outbox: Outbox

  constructor(outbox: Outbox) {
    this.#outbox = outbox
  }

  send(message: RawMail): Promise<void> {
    return this.#outbox.put(message)
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
