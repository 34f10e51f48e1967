/** What a job that was given up may take to let go of what it holds. */
const UNWIND_MS = 2000

interface UnderWay {
  readonly controller: AbortController
  readonly abandon: () => void
}

/** The jobs that this process runs, so that all of them can be given up at once. */
export class JobsUnderWay {
  readonly #jobs = new Set<UnderWay>()
  #givenUp = false

  /** Runs the work until it is over or given up. `claim` is aborted when the job is no longer this process's. */
  async run(
    work: (signal: AbortSignal) => Promise<void>,
    claim: AbortSignal,
  ): Promise<'done' | 'givenUp'> {
    const controller = new AbortController()
    const { promise: abandoned, resolve: abandon } = Promise.withResolvers<void>()
    const lose = () => controller.abort(claim.reason)
    claim.addEventListener('abort', lose, { once: true })
    const job = { controller, abandon }
    this.#jobs.add(job)
    try {
      await Promise.race([work(controller.signal), abandoned])
    } catch (error) {
      if (!this.#givenUp) throw error
    } finally {
      claim.removeEventListener('abort', lose)
      this.#jobs.delete(job)
    }
    // What ends now may have ended only because it was told to.
    return this.#givenUp ? 'givenUp' : 'done'
  }

  /** Tells every job that runs that it is no longer this process's. */
  abort(reason: Error): void {
    for (const { controller } of this.#jobs) controller.abort(reason)
  }

  /** Tells every job to end, and waits for none longer than two seconds. */
  giveUp(): void {
    this.#givenUp = true
    const jobs = [...this.#jobs]
    for (const { controller } of jobs) controller.abort(new Error('The service is shutting down'))
    setTimeout(() => {
      for (const { abandon } of jobs) abandon()
    }, UNWIND_MS)
  }
}
