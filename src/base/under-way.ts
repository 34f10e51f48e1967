import { answerInTime } from './answer-in-time.ts'

/** Counts what is under way, and tells of pauses in which nothing is. */
export class UnderWay {
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

  /** Resolves once nothing was under way for `pauseMs`, and at the latest after `withinMs`. */
  async pause({ pauseMs, withinMs }: { pauseMs: number; withinMs: number }): Promise<void> {
    const lastMs = performance.now() + withinMs
    for (let now = performance.now(); now < lastMs; now = performance.now()) {
      const leftMs = lastMs - now
      if (this.#count > 0) await answerInTime(this.#none.promise, leftMs, undefined)
      else {
        const missingMs = pauseMs - (now - this.#endedMs)
        if (missingMs <= 0) return
        await new Promise((resolve) => setTimeout(resolve, Math.min(missingMs, leftMs)))
      }
    }
  }

  #end(): void {
    this.#endedMs = performance.now()
    this.#none.resolve()
    this.#none = Promise.withResolvers()
  }
}
