interface QueuedWork {
  readonly done: Promise<void>
  resolve(): void
  reject(reason: unknown): void
}

/**
 * Work that is asked for by the name of what it is due for: a few at a time, first asked first begun, and on one thing never
 * twice at once. What is asked for again before it began is done once.
 */
export class CoalescingQueue {
  readonly #atOnce: number
  readonly #work: (thing: string) => Promise<void>
  readonly #due = new Map<string, QueuedWork>()
  readonly #running = new Set<string>()

  /** Only the caller that waits for work that fails gets its error. */
  constructor(atOnce: number, work: (thing: string) => Promise<void>) {
    this.#atOnce = atOnce
    this.#work = work
  }

  /** Resolves when work that begins after this is done; rejects as it does. */
  add(thing: string): Promise<void> {
    const { done } = this.#due.get(thing) ?? this.#ask(thing)
    this.#begin()
    return done
  }

  /** Resolves when that is done for all of them, and also what has begun on others. */
  async addAll(things: Iterable<string>): Promise<void> {
    const asked = new Set([...things, ...this.#running])
    await Promise.all([...asked].map((thing) => this.add(thing)))
  }

  #ask(thing: string): QueuedWork {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    promise.catch(() => {})
    const due = { done: promise, resolve, reject }
    this.#due.set(thing, due)
    return due
  }

  #begin(): void {
    for (const [thing, due] of this.#due) {
      if (this.#running.size >= this.#atOnce) return
      if (this.#running.has(thing)) continue
      this.#due.delete(thing)
      this.#running.add(thing)
      void this.#do(thing, due)
    }
  }

  async #do(thing: string, due: QueuedWork): Promise<void> {
    let settle = () => due.resolve()
    try {
      await this.#work(thing)
    } catch (error) {
      settle = () => due.reject(error)
    }
    this.#running.delete(thing)
    settle()
    this.#begin()
  }
}
