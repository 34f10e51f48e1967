import { AppError } from '#base/app-error.ts'
import { networkOf } from '#base/network-of.ts'
import { type CounterKey, type Counters, perWindow } from '#platform/redis/counters.ts'

const FAILURES = perWindow(30, 10 * 60_000)

export interface GuessLimitsDeps {
  readonly counters: Counters
  /** The kind of secret. Counts are of all sites together, so it stands where site ids do. */
  readonly of: string
}

/** How often a network may send secrets of one kind that are wrong. */
export class GuessLimits {
  readonly #deps: GuessLimitsDeps

  constructor(deps: GuessLimitsDeps) {
    this.#deps = deps
  }

  /** How long a network has to wait that has failed too often; 0 for every other. */
  async waitMs(address: string): Promise<number> {
    return (await this.#deps.counters.step(this.#keyOf(address), FAILURES, 'look')).waitMs
  }

  /** 429 for a network that has failed too often. */
  async check(address: string): Promise<void> {
    const waitMs = await this.waitMs(address)
    if (waitMs === 0) return
    throw new AppError(
      'TooManyRequests',
      'Too many wrong secrets came from your network: try again later',
      { retryAfterSeconds: Math.ceil(waitMs / 1000) },
    )
  }

  /** Afterwards, since many may come from one network at the same moment, and nobody guesses 256 bits. */
  async failed(address: string): Promise<void> {
    await this.#deps.counters.step(this.#keyOf(address), FAILURES, 'add')
  }

  #keyOf(address: string): CounterKey {
    return { siteId: this.#deps.of, name: `guess ${networkOf(address)}` }
  }
}
