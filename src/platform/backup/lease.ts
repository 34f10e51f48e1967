export interface LeaseSteps {
  readonly everyMs: number
  /** Rejects when it is lost. */
  renew(): Promise<void>
  release(): Promise<void>
}

/** Something that is held as long as it is renewed. */
export class Lease implements AsyncDisposable {
  readonly #steps: LeaseSteps
  readonly #timer: NodeJS.Timeout
  #renewing: Promise<void> = Promise.resolve()
  #loss: Error | undefined

  constructor(steps: LeaseSteps) {
    this.#steps = steps
    this.#timer = setInterval(() => this.#renew(), steps.everyMs)
  }

  /** Throws when it was lost meanwhile. */
  async assertHeld(): Promise<void> {
    this.#renew()
    await this.#renewing
    if (this.#loss) throw this.#loss
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#renewing
    await this.#steps.release()
  }

  #renew(): void {
    this.#renewing = this.#renewing.then(async () => {
      if (this.#loss) return
      try {
        await this.#steps.renew()
      } catch (error) {
        this.#loss = error instanceof Error ? error : new Error(String(error))
      }
    })
  }
}
