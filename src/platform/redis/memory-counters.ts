import { LRUCache } from 'lru-cache'

import type { Clock } from '#base/clock.ts'

import type { CounterState, CounterKey, CounterRule, CounterStep, Counters } from './counters.ts'

const REMEMBERED = 100_000
const NONE: Counter = { count: 0, waitUntilMs: 0, refused: false, forgottenAtMs: 0 }

interface Counter {
  readonly count: number
  readonly waitUntilMs: number
  readonly refused: boolean
  readonly forgottenAtMs: number
}

/** Counts of one process. Bounded: the least recently used are forgotten first. */
export class MemoryCounters implements Counters {
  readonly #counters = new LRUCache<string, Counter>({ max: REMEMBERED })
  readonly #clock: Clock

  constructor(deps: { readonly clock: Clock }) {
    this.#clock = deps.clock
  }

  step(key: CounterKey, rule: CounterRule, step: CounterStep): Promise<CounterState> {
    const nowMs = this.#clock.now().getTime()
    const before = this.#delayed(this.#find(key, nowMs), rule, step)
    const waits = before.waitUntilMs > nowMs
    if (step === 'look' || (step === 'begin' && waits)) {
      if (step === 'begin')
        this.#counters.set(mapKey(key), { ...this.#find(key, nowMs), refused: true })
      const firstRefusal = step === 'begin' && !before.refused
      return Promise.resolve(countedOf(before, nowMs, { admitted: !waits, firstRefusal }))
    }
    const after = step === 'undo' ? undone(before, rule) : added(before, rule, nowMs)
    this.#counters.set(mapKey(key), after)
    return Promise.resolve(countedOf(after, nowMs, { admitted: true, firstRefusal: false }))
  }

  clear(key: CounterKey): Promise<void> {
    this.#counters.delete(mapKey(key))
    return Promise.resolve()
  }

  count(key: CounterKey): number {
    return this.#find(key, this.#clock.now().getTime()).count
  }

  /** Goes on counting from there. */
  mirror(key: CounterKey, rule: CounterRule, counted: CounterState): void {
    const nowMs = this.#clock.now().getTime()
    this.#counters.set(mapKey(key), {
      count: counted.count,
      waitUntilMs: nowMs + counted.waitMs,
      refused: !counted.admitted,
      forgottenAtMs: nowMs + rule.forgetMs,
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }

  /** Until it is forgotten, where the next step is too much for it. */
  #delayed(before: Counter, { free, weight = 1 }: CounterRule, step: CounterStep): Counter {
    const isTooMuch = step === 'begin' && weight > 1 && before.count > 0
    if (!isTooMuch || before.count + weight <= free) return before
    return { ...before, waitUntilMs: before.forgottenAtMs }
  }

  #find(key: CounterKey, nowMs: number): Counter {
    const counter = this.#counters.get(mapKey(key))
    return counter && counter.forgottenAtMs > nowMs ? counter : NONE
  }
}

function added(before: Counter, rule: CounterRule, nowMs: number): Counter {
  const count = before.count + (rule.weight ?? 1)
  const starts = rule.forgetAfter === 'latest' || before.count === 0
  const forgottenAtMs = starts ? nowMs + rule.forgetMs : before.forgottenAtMs
  const waitMs =
    count < rule.free ? 0 : Math.min(rule.firstWaitMs * 2 ** (count - rule.free), rule.lastWaitMs)
  const waitUntilMs = Math.min(nowMs + waitMs, forgottenAtMs)
  return { count, waitUntilMs, refused: false, forgottenAtMs }
}

function undone(before: Counter, rule: CounterRule): Counter {
  const count = Math.max(0, before.count - (rule.weight ?? 1))
  const waitUntilMs = count < rule.free ? 0 : before.waitUntilMs
  return { ...before, count, waitUntilMs }
}

const countedOf = (
  { count, waitUntilMs }: Counter,
  nowMs: number,
  outcome: Pick<CounterState, 'admitted' | 'firstRefusal'>,
): CounterState => ({ count, waitMs: Math.max(0, waitUntilMs - nowMs), ...outcome })

const mapKey = ({ siteId, name }: CounterKey): string => `${siteId} ${name}`
