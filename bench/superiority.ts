/** What two samples say about each other's sources. */
export interface Superiority {
  /**
   * How often a value of the first is the greater one, ties counted half: 0.5 when nothing tells them apart (the area
   * under the ROC curve, Mann and Whitney's U over its maximum).
   */
  readonly probability: number
  /** Between these it is with 95 % confidence (DeLong's variance, 1988). */
  readonly low: number
  readonly high: number
}

const Z_95 = 1.959_963_985

/** Robust: ranks alone count, so that a few late answers of a busy machine change nothing. */
export function superiority(first: readonly number[], second: readonly number[]): Superiority {
  const [ofFirst, ofSecond] = [placements(first, second), placements(second, first)]
  const probability = mean(ofFirst)
  const deviation = Math.sqrt(variance(ofFirst) / first.length + variance(ofSecond) / second.length)
  return {
    probability,
    low: Math.max(0, probability - Z_95 * deviation),
    high: Math.min(1, probability + Z_95 * deviation),
  }
}

/** Of each value, the share of the others that it exceeds. */
function placements(values: readonly number[], others: readonly number[]): number[] {
  const sorted = others.toSorted((a, b) => a - b)
  return values.map((value) => (below(sorted, value) + atMost(sorted, value)) / 2 / sorted.length)
}

const below = (sorted: readonly number[], value: number): number =>
  firstIndex(sorted, (each) => each >= value)

const atMost = (sorted: readonly number[], value: number): number =>
  firstIndex(sorted, (each) => each > value)

function firstIndex(sorted: readonly number[], holds: (value: number) => boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(sorted[middle] ?? Infinity)) high = middle
    else low = middle + 1
  }
  return low
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

function variance(values: readonly number[]): number {
  const average = mean(values)
  return values.reduce((sum, value) => sum + (value - average) ** 2, 0) / (values.length - 1)
}
