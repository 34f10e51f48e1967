import { AppError } from '#base/app-error.ts'
import {
  type CounterKey,
  type CounterRule,
  type Counters,
  perWindow,
} from '#platform/redis/counters.ts'

import type { RateLimit } from './rate-limits.ts'

/** What a limit counts: something of a site, and how much of it. */
export interface LimitedUse {
  readonly limit: RateLimit
  /** Or what the counts of all sites together are kept under. */
  readonly siteId: string
  /** Whose use is counted, where it is not all of the site's: a network, a mailbox. */
  readonly of?: string
  /** 1 when left out. More than the limit at once is admitted where nothing else was counted. */
  readonly amount?: number
}

/** Uses that were let through. */
export interface AdmittedUse {
  /** They did not happen after all, and are not counted. */
  takeBack(): Promise<void>
}

export type UseDecision = AdmittedUse | { readonly refusal: AppError }

/** Counts uses against their limits, over all replicas where there is Redis. */
export class RateLimiter {
  readonly #counters: Counters

  constructor({ counters }: { readonly counters: Counters }) {
    this.#counters = counters
  }

  /** Counts all of them or none. 429 `TooManyRequests` for the first whose limit is reached. */
  async admit(...uses: readonly LimitedUse[]): Promise<AdmittedUse> {
    const decision = await this.decide(...uses)
    if ('refusal' in decision) throw decision.refusal
    return decision
  }

  /** The same, for callers with another answer to one that is refused. */
  async decide(...uses: readonly LimitedUse[]): Promise<UseDecision> {
    for (const [at, use] of uses.entries()) {
      const { admitted, waitMs } = await this.#counters.step(keyOf(use), ruleOf(use), 'begin')
      if (admitted) continue
      await this.#takeBack(uses.slice(0, at))
      return { refusal: tooMany(use.limit, waitMs) }
    }
    return { takeBack: () => this.#takeBack(uses) }
  }

  /** Counts one that is known afterwards only, whatever the limit. */
  async add(use: LimitedUse): Promise<void> {
    await this.#counters.step(keyOf(use), ruleOf(use), 'add')
  }

  /** 429 `TooManyRequests` for a use whose limit is reached. Counts nothing. */
  async check(use: LimitedUse): Promise<void> {
    const refusal = await this.refusalOf(use)
    if (refusal) throw refusal
  }

  /** The error of `check`, for callers with another answer. */
  async refusalOf(use: LimitedUse): Promise<AppError | undefined> {
    const { waitMs } = await this.#counters.step(keyOf(use), ruleOf(use), 'look')
    return waitMs === 0 ? undefined : tooMany(use.limit, waitMs)
  }

  async #takeBack(uses: readonly LimitedUse[]): Promise<void> {
    await Promise.all(uses.map((use) => this.#counters.step(keyOf(use), ruleOf(use), 'undo')))
  }
}

const keyOf = ({ limit, siteId, of }: LimitedUse): CounterKey => ({
  siteId,
  name: of === undefined ? limit.counter : `${limit.counter} ${of}`,
})

const ruleOf = ({ limit, amount = 1 }: LimitedUse): CounterRule => ({
  ...perWindow(limit.most, limit.windowMs),
  weight: amount,
})

function tooMany({ refusal, most, name }: RateLimit, waitMs: number): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new AppError('TooManyRequests', `${refusal}: try again in ${retryAfterSeconds} seconds`, {
    retryAfterSeconds,
    ...(name !== undefined && { fields: { retryable: true, limit: { name, value: most } } }),
  })
}
