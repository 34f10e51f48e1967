import { DurationHistogram } from '#base/duration-histogram.ts'

const TICK_MS = 100

/**
 * How much later than they should timers run: what every request waits for while something computes. Bun's
 * `monitorEventLoopDelay` does not see a loop that is blocked.
 */
export class EventLoopLag implements Disposable {
  readonly lags = new DurationHistogram()
  readonly #timer: NodeJS.Timeout
  #dueMs = performance.now() + TICK_MS

  constructor() {
    this.#timer = setInterval(() => this.#look(), TICK_MS)
    this.#timer.unref()
  }

  #look(): void {
    const nowMs = performance.now()
    this.lags.observe(Math.max(0, nowMs - this.#dueMs))
    this.#dueMs = nowMs + TICK_MS
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
