import { AppError } from '#base/app-error.ts'
import {
  type CounterKey,
  type CounterRule,
  type Counters,
  perWindow,
} from '#platform/redis/counters.ts'

const MINUTE_MS = 60_000
const PER_MINUTE = { mailbox: 120, site: 600 }

/** To how many recipients a mailbox, and all of a site together, may send in a minute. */
export class SendingLimits {
  readonly #counters: Counters

  constructor({ counters }: { readonly counters: Counters }) {
    this.#counters = counters
  }

  /** Counts the recipients of a message. 429 `TooManyRequests` for one too many: then none of them is counted. */
  async count(siteId: string, mailboxId: string, recipients: number): Promise<void> {
    const mailbox = { siteId, name: `sending ${mailboxId}` }
    await this.#begin(mailbox, { free: PER_MINUTE.mailbox, recipients, who: 'this mailbox' })
    try {
      const site = { siteId, name: 'sending' }
      await this.#begin(site, { free: PER_MINUTE.site, recipients, who: 'this site' })
    } catch (error) {
      await this.#counters.step(mailbox, ruleOf(PER_MINUTE.mailbox, recipients), 'undo')
      throw error
    }
  }

  async #begin(
    key: CounterKey,
    { free, recipients, who }: { free: number; recipients: number; who: string },
  ): Promise<void> {
    const { admitted, waitMs } = await this.#counters.step(key, ruleOf(free, recipients), 'begin')
    if (admitted) return
    throw new AppError(
      'TooManyRequests',
      `At most ${free} recipients a minute are sent to by ${who}: try again later`,
      { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) },
    )
  }
}

const ruleOf = (free: number, weight: number): CounterRule => ({
  ...perWindow(free, MINUTE_MS),
  weight,
})
