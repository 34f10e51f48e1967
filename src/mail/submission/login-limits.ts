import { networkOf } from '#base/network-of.ts'
import { type CounterKey, type Counters, perWindow } from '#platform/redis/counters.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

const FAILURES = perWindow(30, 10 * 60_000)
/** Counts of all sites together, where site ids stand. */
const NO_SITE = 'submission'

/** How often a network may try passwords that are wrong. */
export class LoginLimits {
  readonly #counters: Counters

  constructor({ counters }: { readonly counters: Counters }) {
    this.#counters = counters
  }

  /** Throws a 421 for a network that has failed too often. */
  async check(address: string): Promise<void> {
    const { waitMs } = await this.#counters.step(keyOf(address), FAILURES, 'look')
    if (waitMs === 0) return
    throw new SmtpReply(421, '4.7.0', 'Too many failed logins from your network: try again later')
  }

  /**
   * Afterwards, since many people may log in from one network at the same moment. How many guess at once is bounded by the
   * connections of a network, and nobody guesses 256 bits.
   */
  async failed(address: string): Promise<void> {
    await this.#counters.step(keyOf(address), FAILURES, 'add')
  }
}

const keyOf = (address: string): CounterKey => ({
  siteId: NO_SITE,
  name: `login ${networkOf(address)}`,
})
