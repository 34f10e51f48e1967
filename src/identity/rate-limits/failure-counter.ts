import { createHash } from 'node:crypto'

import type { CounterKey, CounterRule, Counters } from '#platform/redis/counters.ts'

import type { CountedAttempt, FailureKey, CounterKind, FailureCounts } from './failure-counts.ts'

const SECOND_MS = 1000
const QUARTER_HOUR_MS = 15 * 60 * SECOND_MS
const HOUR_MS = 60 * 60 * SECOND_MS

const guessRule = (free: number): CounterRule => ({
  free,
  firstWaitMs: SECOND_MS,
  lastWaitMs: QUARTER_HOUR_MS,
  forgetMs: HOUR_MS,
  forgetAfter: 'latest',
})

const hourlyRule = (free: number): CounterRule => ({
  free,
  firstWaitMs: HOUR_MS,
  lastWaitMs: HOUR_MS,
  forgetMs: HOUR_MS,
  forgetAfter: 'first',
})

const RULES: Record<CounterKind, CounterRule> = {
  account: guessRule(5),
  // A code dies of its own five tries; this slows down who has one mailed after the other.
  code: guessRule(10),
  // Whoever guesses from one place must not be able to shut the owner out, who is in another.
  'account-anywhere': guessRule(25),
  'code-anywhere': guessRule(25),
  // Many people may share an address, and mistype at all hours: it is not held against them for ever.
  address: { ...guessRule(50), forgetAfter: 'first' },
  mail: hourlyRule(5),
  'mail-anywhere': hourlyRule(20),
  'mail-address': hourlyRule(50),
}

/** Failures make the next tries wait: a few are free, then one second, doubling to a quarter of an hour. */
export class FailureCounter implements FailureCounts {
  readonly #counters: Counters

  constructor(deps: { counters: Counters }) {
    this.#counters = deps.counters
  }

  async begin(key: FailureKey): Promise<CountedAttempt> {
    const counted = await this.#counters.step(counterOf(key), RULES[key.kind], 'begin')
    const { count, admitted, firstRefusal } = counted
    if (admitted) return { count, waitSeconds: 0, firstRefusal: false }
    return { count, waitSeconds: secondsOf(counted.waitMs), firstRefusal: firstRefusal }
  }

  async takeBack(key: FailureKey): Promise<void> {
    await this.#counters.step(counterOf(key), RULES[key.kind], 'undo')
  }

  async waitSeconds(key: FailureKey): Promise<number> {
    const { waitMs } = await this.#counters.step(counterOf(key), RULES[key.kind], 'look')
    return secondsOf(waitMs)
  }

  async add(key: FailureKey): Promise<number> {
    const { waitMs } = await this.#counters.step(counterOf(key), RULES[key.kind], 'add')
    return secondsOf(waitMs)
  }

  clear(key: FailureKey): Promise<void> {
    return this.#counters.clear(counterOf(key))
  }
}

const secondsOf = (ms: number): number => Math.ceil(ms / 1000)

/** Hashed, because what somebody types may be long, and memory keeps many. */
const counterOf = ({ siteId, kind, subject }: FailureKey): CounterKey => ({
  siteId,
  name: createHash('sha256').update(`${kind} ${subject}`).digest('base64url'),
})
