const WEIGHT = 1 / 8

export interface SilenceLimit {
  /** What is enough on a calm machine. */
  readonly calmMs: number
  /** How often this process or another must be given a processor until the answer is read. */
  readonly steps: number
}

/**
 * How late the timers of this process run, about two seconds back. On a machine that is short of processor time every step
 * towards an answer, here and in other processes, waits as long: time limits for silence grow with it.
 */
export class SchedulingDelay {
  readonly #everyMs: number
  #dueMs: number
  #meanMs = 0

  constructor(everyMs: number, nowMs = performance.now()) {
    this.#everyMs = everyMs
    this.#dueMs = nowMs + everyMs
  }

  /** For a timer that runs each `everyMs`. */
  tick(nowMs: number): void {
    const lateMs = Math.max(0, nowMs - this.#dueMs)
    this.#meanMs += WEIGHT * (lateMs - this.#meanMs)
    this.#dueMs = nowMs + this.#everyMs
  }

  patienceMs({ calmMs, steps }: SilenceLimit): number {
    return calmMs + steps * this.#meanMs
  }
}
