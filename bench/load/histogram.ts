/** Buckets per power of two: a percentile is at most 1/512 above the exact one. */
const SUB_BITS = 9
const SUB_BUCKETS = 2 ** SUB_BITS
const MAX_VALUE = 2 ** 31 - 1
const BUCKETS = bucketOf(MAX_VALUE) + 1

/** Counts of whole microseconds in log-linear buckets: constant memory and time however long the run. */
export class Histogram {
  readonly #counts = new Float64Array(BUCKETS)
  #count = 0
  #sum = 0
  #max = 0

  get count(): number {
    return this.#count
  }

  /** Rounded up to a microsecond, and cut at 35 minutes. */
  record(valueUs: number): void {
    const value = Math.min(MAX_VALUE, Math.max(0, Math.ceil(valueUs)))
    const bucket = bucketOf(value)
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#count += 1
    this.#sum += value
    if (value > this.#max) this.#max = value
  }

  /** The smallest bucket bound that at least this share (0–1) of the values does not exceed; 0 when empty. */
  quantileUs(share: number): number {
    let left = Math.max(1, Math.ceil(share * this.#count))
    if (this.#count === 0) return 0
    for (const [bucket, count] of this.#counts.entries()) {
      left -= count
      if (left <= 0) return Math.min(this.#max, upperBoundOf(bucket))
    }
    return this.#max
  }

  get maxUs(): number {
    return this.#max
  }

  get meanUs(): number {
    return this.#count === 0 ? 0 : this.#sum / this.#count
  }
}

function bucketOf(value: number): number {
  const shift = Math.max(0, 31 - Math.clz32(value) - SUB_BITS)
  return shift * SUB_BUCKETS + (value >>> shift)
}

function upperBoundOf(bucket: number): number {
  if (bucket < 2 * SUB_BUCKETS) return bucket
  const shift = (bucket >>> SUB_BITS) - 1
  return (bucket - shift * SUB_BUCKETS + 1) * 2 ** shift - 1
}
