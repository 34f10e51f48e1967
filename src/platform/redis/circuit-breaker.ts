import type { Clock } from '#base/clock.ts'

/** Keeps callers from waiting for something that does not answer: after a failure it stays open for a while, then lets one try. */
export class CircuitBreaker {
  readonly #clock: Clock
  readonly #openMs: number
  #closedFrom = 0
  #failing = false

  constructor(clock: Clock, openMs: number) {
    this.#clock = clock
    this.#openMs = openMs
  }

  /** Whether a call may be made now. While failing, one caller at a time gets through per interval. */
  allows(): boolean {
    const now = this.#clock.now().getTime()
    if (now < this.#closedFrom) return false
    if (this.#failing) this.#closedFrom = now + this.#openMs
    return true
  }

  /** True when this is the first failure of an outage. */
  failed(): boolean {
    const first = !this.#failing
    this.#failing = true
    this.#closedFrom = this.#clock.now().getTime() + this.#openMs
    return first
  }

  /** True when this ends an outage. */
  succeeded(): boolean {
    const ended = this.#failing
    this.#failing = false
    this.#closedFrom = 0
    return ended
  }
}
