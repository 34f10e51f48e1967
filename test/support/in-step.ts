/** Concurrent callers: the change that each waits for comes when all have arrived. */
export class InStep {
  readonly #change: () => Promise<void>
  #underWay = 0
  #waiting: PromiseWithResolvers<void>[] = []

  constructor(change: () => Promise<void>) {
    this.#change = change
  }

  async walk<Result>(journey: () => Promise<Result>): Promise<Result> {
    this.#underWay += 1
    try {
      return await journey()
    } finally {
      this.#underWay -= 1
      void this.#goOn()
    }
  }

  change(): Promise<void> {
    const waiting = Promise.withResolvers<void>()
    this.#waiting.push(waiting)
    void this.#goOn()
    return waiting.promise
  }

  async #goOn(): Promise<void> {
    const all = this.#waiting
    if (all.length === 0 || all.length < this.#underWay) return
    this.#waiting = []
    try {
      await this.#change()
      for (const { resolve } of all) resolve()
    } catch (error) {
      for (const { reject } of all) reject(error)
    }
  }
}
