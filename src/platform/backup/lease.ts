import { withTimeout } from '#base/with-timeout.ts'
import { SetupError } from '#config/setup-error.ts'

/** How long a renewal, or the end, may take: the store may hang. */
const ANSWER_MS = 30_000

export interface LeaseSteps {
  readonly everyMs: number
  readonly answerMs?: number
  /** Rejects when it is lost. */
  renew(): Promise<void>
  release(): Promise<void>
}

/** Something that is held as long as it is renewed. */
export class Lease implements AsyncDisposable {
  readonly #steps: LeaseSteps
  readonly #timer: NodeJS.Timeout
  readonly #lost = new AbortController()
  #renewing: Promise<void> = Promise.resolve()

  constructor(steps: LeaseSteps) {
    this.#steps = steps
    this.#timer = setInterval(() => this.#renew(), steps.everyMs)
  }

  /** Aborted with the reason when it is lost. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** Throws when it was lost since. */
  async assertHeld(): Promise<void> {
    this.#renew()
    await this.#renewing
    this.lost.throwIfAborted()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#renewing
    if (!this.lost.aborted) await this.#inTime(this.#steps.release())
  }

  #renew(): void {
    this.#renewing = this.#renewing.then(async () => {
      if (this.lost.aborted) return
      try {
        await this.#inTime(this.#steps.renew())
      } catch (error) {
        this.#lost.abort(error)
      }
    })
  }

  async #inTime(work: Promise<void>): Promise<void> {
    const { answerMs = ANSWER_MS } = this.#steps
    await withTimeout(work, answerMs, () => {
      throw silent(answerMs)
    })
  }
}

const silent = (ms: number): SetupError =>
  new SetupError(
    `The database, or the place of the backup, has not answered for ${ms / 1000} seconds: run it again when it does`,
  )
