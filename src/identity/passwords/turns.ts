import { AppError } from '#base/app-error.ts'

/** Lets a few work at a time and a bounded number wait for it, first come first served; 503 for everyone beyond. */
export class Turns {
  readonly #waiting: (() => void)[] = []
  readonly #atOnce: number
  readonly #mayWait: number
  #working = 0

  constructor(bounds: { readonly atOnce: number; readonly mayWait: number }) {
    this.#atOnce = bounds.atOnce
    this.#mayWait = bounds.mayWait
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#turn()
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      // The turn is handed on, so that nobody slips in between.
      if (next) next()
      else this.#working -= 1
    }
  }

  async #turn(): Promise<void> {
    if (this.#working < this.#atOnce) {
      this.#working += 1
      return
    }
    if (this.#waiting.length >= this.#mayWait) {
      throw new AppError('ServiceUnavailable', 'Too many sign-ins at once: try again', {
        retryAfterSeconds: 2,
      })
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}
