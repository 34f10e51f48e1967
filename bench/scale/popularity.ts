/**
 * How calls spread over sites: the one of rank k gets a share of 1 / k ^ exponent (Zipf). With 0 all get the same; visits of the
 * web's sites are seen between 0.8 and 1.1.
 */
export class Popularity {
  /** Of all sites up to this one. */
  readonly #shares: Float64Array

  constructor(sites: number, exponent: number) {
    this.#shares = new Float64Array(sites)
    let sum = 0
    for (let rank = 0; rank < sites; rank += 1) {
      sum += (rank + 1) ** -exponent
      this.#shares[rank] = sum
    }
    for (let rank = 0; rank < sites; rank += 1) {
      this.#shares[rank] = (this.#shares[rank] ?? 0) / sum
    }
  }

  /** The rank of the site that a call is for. `chance` is from 0 to 1. */
  draw(chance: number): number {
    let [low, high] = [0, this.#shares.length - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#shares[middle] ?? 1) <= chance) low = middle + 1
      else high = middle
    }
    return low
  }
}
