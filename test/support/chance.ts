/** The same draws for the same seed (mulberry32), so that a run can be repeated. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  below(count: number): number {
    return Math.floor(this.next() * count)
  }

  /** Throws when there is nothing to choose from. */
  oneOf<T>(all: readonly T[]): T {
    const chosen = all[this.below(all.length)]
    if (chosen === undefined) throw new Error('There is nothing to choose from')
    return chosen
  }
}
