/** Flushes of folders: those of one that are asked for while one runs share the next. */
export class SharedFlushes {
  readonly #flush: (folder: string) => Promise<void>
  readonly #running = new Map<string, Promise<void>>()
  readonly #next = new Map<string, Promise<void>>()

  constructor(flush: (folder: string) => Promise<void>) {
    this.#flush = flush
  }

  /** Resolves when a flush that began after this has ended, and rejects as it does. */
  flush(folder: string): Promise<void> {
    const next = this.#next.get(folder)
    if (next) return next
    const running = this.#running.get(folder)
    if (!running) return this.#start(folder)
    const begin = (): Promise<void> => {
      this.#next.delete(folder)
      return this.#start(folder)
    }
    const following = running.then(begin, begin)
    this.#next.set(folder, following)
    return following
  }

  #start(folder: string): Promise<void> {
    const flushing = this.#flush(folder).finally(() => this.#running.delete(folder))
    this.#running.set(folder, flushing)
    return flushing
  }
}
