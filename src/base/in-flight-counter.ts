import { withFallback } from './with-timeout.ts'

/** Counts the calls in flight, and reports pauses without any. */
export class InFlightCounter {
  #count = 0
  #endedMs = -Infinity
  #none = Promise.withResolvers<void>()

  /** Gives what ends it; to be called once. */
  begin(): () => void {
    this.#count += 1
    return () => {
      this.#count -= 1
      if (this.#count === 0) this.#end()
    }
  }

  /** Waits until no call was in flight for `pauseMs`. Returns false when that is not so within `withinMs`. */
  async pause({ pauseMs, withinMs }: { pauseMs: number; withinMs: number }): Promise<boolean> {
    const lastMs = performance.now() + withinMs
    for (;;) {
      const now = performance.now()
      const missingMs = this.#count > 0 ? Infinity : pauseMs - (now - this.#endedMs)
      if (missingMs <= 0) return true
      const leftMs = lastMs - now
      if (leftMs <= 0) return false
      if (this.#count > 0) await withFallback(this.#none.promise, leftMs, undefined)
      else await new Promise((resolve) => setTimeout(resolve, Math.min(missingMs, leftMs)))
    }
  }

  #end(): void {
    this.#endedMs = performance.now()
    this.#none.resolve()
    this.#none = Promise.withResolvers()
  }
}
