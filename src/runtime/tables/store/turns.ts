/** Lets work on one thing happen one after the other in this process; work on others goes on beside it. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  async take<Result>(thing: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(thing) ?? Promise.resolve()
    const turn = before.then(work, work)
    this.#last.set(thing, turn)
    try {
      return await turn
    } finally {
      if (this.#last.get(thing) === turn) this.#last.delete(thing)
    }
  }
}
