import { DurationHistogram } from '#base/duration-histogram.ts'
import { Tally } from '#base/tally.ts'

import { MailRefused, type MailTransport, type RawMail } from './mail-transport.ts'

/** Counts what is handed to another transport. */
export class CountedTransport implements MailTransport {
  /** `kept` here for the operator, `refused` permanently, `failed` this time. */
  readonly outcomes = new Tally(['sent', 'kept', 'refused', 'failed'])
  readonly durations = new DurationHistogram()
  readonly #transport: MailTransport

  constructor(transport: MailTransport) {
    this.#transport = transport
  }

  get delivers(): boolean {
    return this.#transport.delivers
  }

  async send(message: RawMail, signal: AbortSignal): Promise<void> {
    const startedAt = performance.now()
    try {
      await this.#transport.send(message, signal)
      this.outcomes.add(this.delivers ? 'sent' : 'kept')
    } catch (error) {
      this.outcomes.add(error instanceof MailRefused ? 'refused' : 'failed')
      throw error
    } finally {
      this.durations.observe(performance.now() - startedAt)
    }
  }

  verify(): Promise<void> {
    return this.#transport.verify()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport[Symbol.asyncDispose]()
  }
}
