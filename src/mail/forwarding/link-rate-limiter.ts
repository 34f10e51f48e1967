import { AppError } from '#base/app-error.ts'
import { networkOf } from '#base/network-of.ts'
import { type CounterKey, type Counters, perWindow } from '#platform/redis/counters.ts'

const WRONG_LINKS = perWindow(30, 15 * 60_000)

/** The gate before mailed links: one network has 30 wrong ones in a quarter of an hour. */
export class LinkRateLimiter {
  readonly #counters: Counters

  constructor({ counters }: { readonly counters: Counters }) {
    this.#counters = counters
  }

  /** Counts as wrong what ends in `InvalidToken`, from before it is known on. 429 while the network has to wait. */
  async attempt<Found>(
    siteId: string,
    address: string,
    open: () => Promise<Found>,
  ): Promise<Found> {
    const key: CounterKey = { siteId, name: `forwarding link ${networkOf(address)}` }
    const { admitted, waitMs } = await this.#counters.step(key, WRONG_LINKS, 'begin')
    if (!admitted) throw tooMany(Math.max(1, Math.ceil(waitMs / 1000)))
    let isWrong = false
    try {
      return await open()
    } catch (error) {
      isWrong = error instanceof AppError && error.code === 'InvalidToken'
      throw error
    } finally {
      if (!isWrong) await this.#counters.step(key, WRONG_LINKS, 'undo')
    }
  }
}

const tooMany = (waitSeconds: number): AppError =>
  new AppError(
    'TooManyRequests',
    `Too many wrong links from one place: try again in ${waitSeconds} seconds`,
    { retryAfterSeconds: waitSeconds },
  )
