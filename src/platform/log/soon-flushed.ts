const FLUSH_MS = 100

/** Output that gathers lines in memory, as `pino.destination` makes it. */
interface GatheredOutput {
  write(line: string): void
  flush(): void
  flushSync(): void
}

/** Writes gathered lines soon after the first of them; nothing wakes the process while there are none. */
export class SoonFlushed {
  readonly #output: GatheredOutput
  #isDue = false

  constructor(output: GatheredOutput) {
    this.#output = output
  }

  write(line: string): void {
    this.#output.write(line)
    if (this.#isDue) return
    this.#isDue = true
    setTimeout(() => {
      this.#isDue = false
      this.#output.flush()
    }, FLUSH_MS).unref()
  }

  /** For the last words of a process. */
  flushSync(): void {
    this.#output.flushSync()
  }
}
