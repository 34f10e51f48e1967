/**
 * Keeps callers from waiting for something that does not answer: after a failure it stays open for a while, then lets one try.
 * It counts by a clock that is never set: one that is turned back must not keep it open for hours.
 */
export class CircuitBreaker {
  readonly #openMs: number
  readonly #nowMs: () => number
  #closedFrom = -Infinity
  #failing = false

  constructor(openMs: number, nowMs = () => performance.now()) {
    this.#openMs = openMs
    this.#nowMs = nowMs
  }

  /** Whether a call may be made now. While failing, one caller at a time gets through per interval. */
  allows(): boolean {
    const now = this.#nowMs()
    if (now < this.#closedFrom) return false
    if (this.#failing) this.#closedFrom = now + this.#openMs
    return true
  }

  /** True when this is the first failure of an outage. */
  failed(): boolean {
    const first = !this.#failing
    this.#failing = true
    this.#closedFrom = this.#nowMs() + this.#openMs
    return first
  }

  /** True when this ends an outage. */
  succeeded(): boolean {
    const ended = this.#failing
    this.#failing = false
    this.#closedFrom = -Infinity
    return ended
  }
}
