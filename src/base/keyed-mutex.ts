/** Runs work on one key at a time, in the order of the calls. Work on different keys runs side by side. */
export class KeyedMutex {
  /** The last holder or waiter of each key; settled when it has left. */
  readonly #tails = new Map<string, Promise<unknown>>()

  /** Begins `work` at once when the key is free. Resolves and rejects as `work` does. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const tail = this.#tails.get(key)
    const turn = tail ? tail.then(work, work) : work()
    this.#tails.set(key, turn)
    try {
      return await turn
    } finally {
      if (this.#tails.get(key) === turn) this.#tails.delete(key)
    }
  }
}
