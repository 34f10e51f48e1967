/** Counts what is under way, and tells of moments in which nothing is. */
export class UnderWay {
  #count = 0
  #none = Promise.withResolvers<void>()

  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#count += 1
    try {
      return await work()
    } finally {
      this.#count -= 1
      if (this.#count === 0) {
        this.#none.resolve()
        this.#none = Promise.withResolvers()
      }
    }
  }

  /** Resolves as soon as nothing is under way, and at the latest after that time. */
  async none(maxMs: number): Promise<void> {
    if (this.#count === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const late = setTimeout(resolve, maxMs)
    await Promise.race([this.#none.promise, promise])
    clearTimeout(late)
  }
}
