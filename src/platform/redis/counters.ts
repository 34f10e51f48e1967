import type { RedisActivity } from './redis-activity.ts'

/**
 * Counts that make their causes wait, shared by replicas when `REDIS_URL` is set. While Redis is gone each replica counts on from
 * the last known values, and hands in what it counted alone when Redis is back: every method resolves.
 */
export interface Counters extends AsyncDisposable {
  /** Undefined when no Redis is configured. */
  readonly redisActivity?: RedisActivity
  /** `begin` counts unless the counter says to wait; `add` counts in any case; `undo` takes it back. */
  step(key: CounterKey, rule: CounterRule, step: CounterStep): Promise<CounterState>
  clear(key: CounterKey): Promise<void>
}

export type CounterStep = 'begin' | 'add' | 'undo' | 'look'

export interface CounterKey {
  readonly siteId: string
  /** Any text; hashed before it becomes part of a Redis key. */
  readonly name: string
}

export interface CounterRule {
  /** This many are counted before there is a wait. */
  readonly free: number
  /** How much a step counts; 1 when left out. A `begin` that would go beyond `free` waits, unless it is the first. */
  readonly weight?: number
  /** Doubled by each further count. */
  readonly firstWaitMs: number
  readonly lastWaitMs: number
  readonly forgetMs: number
  /** A counter is forgotten that long after its latest count, or after its first one whatever follows. */
  readonly forgetAfter: 'latest' | 'first'
}

export interface CounterState {
  readonly count: number
  /** Counted from now. */
  readonly waitMs: number
  /** False when a `begin` has to wait. */
  readonly admitted: boolean
  /** Whether this is the first `begin` that has to wait since one was admitted. */
  readonly firstRefusal: boolean
}

/** That many in a window that begins with the first of them. */
export const perWindow = (free: number, windowMs: number): CounterRule => ({
  free,
  firstWaitMs: windowMs,
  lastWaitMs: windowMs,
  forgetMs: windowMs,
  forgetAfter: 'first',
})
