/** Upper bounds, in milliseconds: from an answer out of memory to the longest that most clients wait. */
const BOUNDS_MS = [
  0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000,
]

/** How many durations were not longer than each bound, in seconds; the last bound is `Infinity`. */
export interface DurationCounts {
  readonly buckets: readonly { readonly seconds: number; readonly count: number }[]
  readonly sumSeconds: number
}

/** Counts durations in buckets, so that the share of longer ones can be read. Adding one is some additions. */
export class DurationHistogram {
  readonly #counts = new Float64Array(BOUNDS_MS.length + 1)
  #sumMs = 0

  observe(ms: number): void {
    let index = 0
    // The last place is for what is longer than every bound.
    while (index < BOUNDS_MS.length && ms > (BOUNDS_MS[index] ?? 0)) index += 1
    this.#counts[index] = (this.#counts[index] ?? 0) + 1
    this.#sumMs += ms
  }

  read(): DurationCounts {
    let count = 0
    const buckets = Array.from(this.#counts, (inBucket, index) => {
      count += inBucket
      return { seconds: (BOUNDS_MS[index] ?? Infinity) / 1000, count }
    })
    return { buckets, sumSeconds: this.#sumMs / 1000 }
  }
}
