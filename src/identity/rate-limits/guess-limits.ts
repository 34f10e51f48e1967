import { AppError } from '#base/app-error.ts'
import { networkOf } from '#base/network-of.ts'
import { type CounterKey, type Counters, perWindow } from '#platform/redis/counters.ts'

const FAILURES = perWindow(30, 10 * 60_000)
/** How often a network may send secrets of one kind that are wrong. */
export class GuessLimits {
  readonly #counters: Counters

  /** Counts of all sites together, where site ids stand. */
  readonly #of: string

  constructor({ counters, of }: { readonly counters: Counters; readonly of: string }) {
    this.#counters = counters
    this.#of = of
  }

  /** 429 for a network that has failed too often. */
  async check(address: string): Promise<void> {
    const { waitMs } = await this.#counters.step(this.#keyOf(address), FAILURES, 'look')
    if (waitMs === 0) return
    throw new AppError(
      'TooManyRequests',
      'Too many wrong secrets came from your network: try again later',
      { retryAfterSeconds: Math.ceil(waitMs / 1000) },
    )
  }

  /** Afterwards, since many may deploy from one network at the same moment, and nobody guesses 256 bits. */
  async failed(address: string): Promise<void> {
    await this.#counters.step(this.#keyOf(address), FAILURES, 'add')
  }

  #keyOf(address: string): CounterKey {
    return { siteId: this.#of, name: `guess ${networkOf(address)}` }
  }
}
