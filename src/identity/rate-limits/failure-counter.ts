import { createHash } from 'node:crypto'

import {
  type CounterKey,
  type CounterRule,
  type Counters,
  perWindow,
} from '#platform/redis/counters.ts'

/**
 * What is counted. `account` fails at a password and `code` at a mailed code, both as tried from one network; `…-anywhere` is
 * the same from all networks together, `…-browser` from one browser that has signed in before. `address` is a network where
 * such tries come from. `mail` is mail on request to an account's address, likewise, and `mail-address` that of a network.
 * `known-network` is no failure: a network from which the account has signed in.
 */
export type CounterKind =
  | 'account'
  | 'account-anywhere'
  | 'account-browser'
  | 'code'
  | 'code-anywhere'
  | 'code-browser'
  | 'address'
  | 'mail'
  | 'mail-anywhere'
  | 'mail-browser'
  | 'mail-address'
  | 'known-network'

export interface FailureKey {
  readonly siteId: string
  readonly kind: CounterKind
  /** Any text; hashed before it becomes part of a stored key. */
  readonly subject: string
  /** How many times the free ones of its kind it has, where one network stands for several smaller ones; 1 when left out. */
  readonly share?: number
}

/** The result of a counted attempt. */
export interface CountedAttempt {
  /** Tries that are remembered, this one included. */
  readonly count: number
  /** 0 when it may go on. */
  readonly waitSeconds: number
  /** Whether it is the first that was turned away since the last one that was let in. */
  readonly firstRefusal: boolean
}

const SECOND_MS = 1000
const QUARTER_HOUR_MS = 15 * 60 * SECOND_MS
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const MONTH_MS = 30 * 24 * HOUR_MS

const guessRule = (free: number): CounterRule => ({
  free,
  firstWaitMs: SECOND_MS,
  lastWaitMs: QUARTER_HOUR_MS,
  forgetMs: HOUR_MS,
  forgetAfter: 'latest',
})

const hourlyRule = (free: number): CounterRule => perWindow(free, HOUR_MS)

const RULES: Record<CounterKind, CounterRule> = {
  account: guessRule(5),
  // A code dies of its own five tries; this slows down who has one mailed after the other.
  code: guessRule(10),
  // Guesses from one network must not lock out the owner in another.
  'account-anywhere': guessRule(25),
  'code-anywhere': guessRule(25),
  'account-browser': guessRule(10),
  'code-browser': guessRule(10),
  // Many people may share an address, and mistype at all hours: it is not held against them for long.
  address: { ...guessRule(50), lastWaitMs: MINUTE_MS, forgetAfter: 'first' },
  mail: hourlyRule(5),
  'mail-anywhere': hourlyRule(20),
  'mail-browser': hourlyRule(5),
  'mail-address': hourlyRule(50),
  'known-network': { ...perWindow(1, MONTH_MS), forgetAfter: 'latest' },
}

/**
 * Failures make the next attempts wait: a few are free, then one second, doubling to a quarter of an hour. They are
 * remembered in Redis when there is one (shared by all replicas), else in memory.
 */
export class FailureCounter {
  readonly #counters: Counters

  constructor(deps: { counters: Counters }) {
    this.#counters = deps.counters
  }

  /**
   * Counts an attempt as failed before its outcome is known, unless it has to wait: of a thousand guesses at once no more
   * get through than one after another.
   */
  async begin(key: FailureKey): Promise<CountedAttempt> {
    const counted = await this.#counters.step(counterOf(key), ruleOf(key), 'begin')
    const { count, admitted, firstRefusal } = counted
    if (admitted) return { count, waitSeconds: 0, firstRefusal: false }
    return { count, waitSeconds: secondsOf(counted.waitMs), firstRefusal: firstRefusal }
  }

  /** Uncounts an attempt that `begin` counted. */
  async takeBack(key: FailureKey): Promise<void> {
    await this.#counters.step(counterOf(key), ruleOf(key), 'undo')
  }

  /** Seconds until the next attempt is allowed; 0 when it is allowed now. */
  async waitSeconds(key: FailureKey): Promise<number> {
    const { waitMs } = await this.#counters.step(counterOf(key), ruleOf(key), 'look')
    return secondsOf(waitMs)
  }

  /** Whether any is remembered. */
  async has(key: FailureKey): Promise<boolean> {
    return (await this.#counters.step(counterOf(key), ruleOf(key), 'look')).count > 0
  }

  /** Counts one and says how long to wait from now on. */
  async add(key: FailureKey): Promise<number> {
    const { waitMs } = await this.#counters.step(counterOf(key), ruleOf(key), 'add')
    return secondsOf(waitMs)
  }

  /** Forgets every failure. */
  clear(key: FailureKey): Promise<void> {
    return this.#counters.clear(counterOf(key))
  }
}

const ruleOf = ({ kind, share = 1 }: FailureKey): CounterRule => ({
  ...RULES[kind],
  free: RULES[kind].free * share,
})

const secondsOf = (ms: number): number => Math.ceil(ms / 1000)

/** Hashed, because typed input may be long, and memory keeps many. */
const counterOf = ({ siteId, kind, subject }: FailureKey): CounterKey => ({
  siteId,
  name: createHash('sha256').update(`${kind} ${subject}`).digest('base64url'),
})
