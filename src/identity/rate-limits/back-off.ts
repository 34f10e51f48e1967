import { createHash } from 'node:crypto'

import type { CounterKey, CounterRule, Counters } from '#platform/redis/counters.ts'

import type { Admission, AttemptKey, AttemptKind, Attempts } from './attempts.ts'

const A_SECOND = 1000
const A_QUARTER = 15 * 60 * A_SECOND
const AN_HOUR = 60 * 60 * A_SECOND

const guesses = (free: number): CounterRule => ({
  free,
  firstWaitMs: A_SECOND,
  lastWaitMs: A_QUARTER,
  forgetMs: AN_HOUR,
  forgetAfter: 'latest',
})

const perHour = (free: number): CounterRule => ({
  free,
  firstWaitMs: AN_HOUR,
  lastWaitMs: AN_HOUR,
  forgetMs: AN_HOUR,
  forgetAfter: 'first',
})

const RULES: Record<AttemptKind, CounterRule> = {
  account: guesses(5),
  // A code dies of its own five tries; this slows down who has one mailed after the other.
  code: guesses(10),
  // Whoever guesses from one place must not be able to shut the owner out, who is in another.
  'account-anywhere': guesses(25),
  'code-anywhere': guesses(25),
  // Many people may share an address, and mistype at all hours: it is not held against them for ever.
  address: { ...guesses(50), forgetAfter: 'first' },
  mail: perHour(5),
  'mail-anywhere': perHour(20),
  'mail-address': perHour(50),
}

/** Failures make the next tries wait: a few are free, then one second, doubling to a quarter of an hour. */
export class BackOff implements Attempts {
  readonly #counters: Counters

  constructor(deps: { counters: Counters }) {
    this.#counters = deps.counters
  }

  async begin(key: AttemptKey): Promise<Admission> {
    const counted = await this.#counters.step(counterOf(key), RULES[key.kind], 'begin')
    const { count, admitted, firstRefusal } = counted
    if (admitted) return { count, waitSeconds: 0, first: false }
    return { count, waitSeconds: secondsOf(counted.waitMs), first: firstRefusal }
  }

  async undo(key: AttemptKey): Promise<void> {
    await this.#counters.step(counterOf(key), RULES[key.kind], 'undo')
  }

  async waitSeconds(key: AttemptKey): Promise<number> {
    const { waitMs } = await this.#counters.step(counterOf(key), RULES[key.kind], 'look')
    return secondsOf(waitMs)
  }

  async failed(key: AttemptKey): Promise<number> {
    const { waitMs } = await this.#counters.step(counterOf(key), RULES[key.kind], 'add')
    return secondsOf(waitMs)
  }

  succeeded(key: AttemptKey): Promise<void> {
    return this.#counters.clear(counterOf(key))
  }
}

const secondsOf = (ms: number): number => Math.ceil(ms / 1000)

/** Hashed, because what somebody types may be long, and memory keeps many. */
const counterOf = ({ siteId, kind, subject }: AttemptKey): CounterKey => ({
  siteId,
  name: createHash('sha256').update(`${kind} ${subject}`).digest('base64url'),
})
