import { AppError } from '#base/app-error.ts'
import { type Counters, perWindow } from '#platform/redis/counters.ts'

const MINUTE_MS = 60_000
const PER_MINUTE = { mailbox: 120, site: 600 }

/** How many messages a mailbox, and all of a site together, may send in a minute. */
export class SendingLimits {
  readonly #counters: Counters

  constructor({ counters }: { readonly counters: Counters }) {
    this.#counters = counters
  }

  /** Counts a message. 429 `TooManyRequests` for one too many. */
  async count(siteId: string, mailboxId: string): Promise<void> {
    await this.#step({ siteId, name: `sending ${mailboxId}` }, PER_MINUTE.mailbox, 'this mailbox')
    await this.#step({ siteId, name: 'sending' }, PER_MINUTE.site, 'this site')
  }

  async #step(
    key: { readonly siteId: string; readonly name: string },
    free: number,
    who: string,
  ): Promise<void> {
    const { admitted, waitMs } = await this.#counters.step(key, perWindow(free, MINUTE_MS), 'begin')
    if (admitted) return
    throw new AppError(
      'TooManyRequests',
      `At most ${free} messages a minute are sent by ${who}: try again later`,
      { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) },
    )
  }
}
