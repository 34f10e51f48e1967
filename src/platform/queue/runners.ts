import type { Job, PgBoss } from 'pg-boss'

/** How often one that has nothing to do looks by itself; others wake it long before. */
const IDLE_POLL_SECONDS = 60

export interface RunnersOptions {
  readonly queue: string
  /** How many jobs they run at once. */
  readonly count: number
  /** How many jobs of one group may run at once in all processes when one of these takes another. */
  readonly perGroup: number | undefined
  run(job: Job<object>): Promise<void>
  /** Called when a job is over: others may wait for its place. */
  ended(): void
  /** From then on none is woken. */
  readonly stop: AbortSignal
}

/**
 * Workers of one queue that take jobs under the same bounds. Of those without a job one is woken at a time, and whoever finds
 * a job wakes the next: a hundred that have nothing to do ask the database no more often than one. They are started as they are needed.
 */
export class Runners {
  readonly #boss: Pick<PgBoss, 'work' | 'notifyWorker'>
  readonly #options: RunnersOptions
  /** The one that was woken last is the last. */
  #ids: string[] = []
  readonly #busy = new Set<string>()
  #started = 0

  constructor(boss: Pick<PgBoss, 'work' | 'notifyWorker'>, options: RunnersOptions) {
    this.#boss = boss
    this.#options = options
  }

  /** Lets one that has no job look for one, if there is such a one. */
  async wake(): Promise<void> {
    if (this.#options.stop.aborted) return
    const idle = this.#ids.find((id) => !this.#busy.has(id))
    if (idle !== undefined) {
      this.#ids = [...this.#ids.filter((id) => id !== idle), idle]
      this.#boss.notifyWorker(idle)
    } else if (this.#started < this.#options.count) {
      await this.#start()
    }
  }

  /** A new one looks at once. */
  async #start(): Promise<void> {
    const { queue, perGroup } = this.#options
    this.#started += 1
    const polling = { batchSize: 1, pollingIntervalSeconds: IDLE_POLL_SECONDS }
    const id: string = await this.#boss.work<object>(
      queue,
      { ...polling, ...(perGroup !== undefined && { groupConcurrency: perGroup }) },
      async ([job]) => {
        if (job) await this.#take(id, job)
      },
    )
    this.#ids.push(id)
  }

  async #take(id: string, job: Job<object>): Promise<void> {
    this.#busy.add(id)
    // It looks for the next one as soon as this one is over.
    this.#boss.notifyWorker(id)
    void this.wake()
    try {
      await this.#options.run(job)
    } finally {
      this.#busy.delete(id)
      this.#options.ended()
    }
  }
}
