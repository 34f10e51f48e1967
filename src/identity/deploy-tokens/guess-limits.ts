import { AppError } from '#base/app-error.ts'
import { networkOf } from '#base/network-of.ts'
import { type CounterKey, type Counters, perWindow } from '#platform/redis/counters.ts'

const FAILURES = perWindow(30, 10 * 60_000)
/** Counts of all sites together, where site ids stand. */
const NO_SITE = 'deploy-tokens'

/** How often a network may send deploy tokens that are wrong. */
export class GuessLimits {
  readonly #counters: Counters

  constructor({ counters }: { readonly counters: Counters }) {
    this.#counters = counters
  }

  /** 429 for a network that has failed too often. */
  async check(address: string): Promise<void> {
    const { waitMs } = await this.#counters.step(keyOf(address), FAILURES, 'look')
    if (waitMs === 0) return
    throw new AppError(
      'TooManyRequests',
      'Too many wrong deploy tokens came from your network: try again later',
      { retryAfterSeconds: Math.ceil(waitMs / 1000) },
    )
  }

  /** Afterwards, since many may deploy from one network at the same moment, and nobody guesses 256 bits. */
  async failed(address: string): Promise<void> {
    await this.#counters.step(keyOf(address), FAILURES, 'add')
  }
}

const keyOf = (address: string): CounterKey => ({
  siteId: NO_SITE,
  name: `guess ${networkOf(address)}`,
})
