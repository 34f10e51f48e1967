/** One in so many. */
const ONE_IN = 32

/**
 * Takes one of 32 questions, by chance: who comes at every tenth is not always missed, as with a count. Nothing that must not be
 * foreseen depends on it.
 */
export class Sampler {
  #state = 1

  isSampled(): boolean {
    // A linear congruential generator; its upper bits are the better ones.
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return this.#state >>> 16 < 65_536 / ONE_IN
  }
}
