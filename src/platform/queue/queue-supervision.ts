import type { PgBoss } from 'pg-boss'

/** How often the jobs of dead workers are looked for, and jobs are counted, while there are any. */
const BUSY_MS = 5000
/** How often there is upkeep while there are none; those that begin later are counted so often. */
const REST_MS = 60_000
/** A replica that has supervised later than this leaves nothing to do. Less than `BUSY_MS`, or half of the passes would come too early. */
export const SUPERVISED_SECONDS = 4

/** Runs the supervision of pg-boss, a dozen statements, at its pace where jobs wait or run and rarely where none do. */
export class QueueSupervision implements Disposable {
  readonly #deps
  readonly #timer: NodeJS.Timeout
  /** Again after the last job has ended: its queue is counted as empty then. */
  #isDue = true
  #isBusy = true
  #isRunning = false
  #startedMs = -Infinity

  constructor(deps: {
    readonly boss: Pick<PgBoss, 'supervise'>
    /** The database did not answer, or the like. */
    readonly failed: (error: unknown) => void
  }) {
    this.#deps = deps
    this.#timer = setInterval(() => this.look(performance.now()), BUSY_MS)
    this.#timer.unref()
  }

  /** Whether jobs that may begin wait, or some run in any process. */
  set isBusy(isBusy: boolean) {
    this.#isBusy = isBusy
    this.#isDue ||= isBusy
  }

  look(nowMs: number): void {
    if (this.#isRunning || !(this.#isDue || nowMs - this.#startedMs >= REST_MS)) return
    this.#isDue = this.#isBusy
    this.#isRunning = true
    this.#startedMs = nowMs
    void this.#supervise()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  async #supervise(): Promise<void> {
    try {
      await this.#deps.boss.supervise()
    } catch (error) {
      this.#isDue = true
      this.#deps.failed(error)
    } finally {
      this.#isRunning = false
    }
  }
}
