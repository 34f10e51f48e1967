import { setTimeout as delay } from 'node:timers/promises'

import { backoffMs } from '#base/backoff.ts'
import { SetupError } from '#config/setup-error.ts'
import type { Logger } from '#platform/log/logger.ts'

import type { Placement } from './placement.ts'
import {
  type PostmasterExit,
  type Postmaster,
  startPostmaster,
  stopPostmaster,
} from './postmaster.ts'

const BACKOFF = { baseMs: 200, maxMs: 10_000 }
/** A server that lived this long is started again at once. */
const STEADY_MS = 60_000

interface SupervisedPostmasterDeps {
  readonly placement: Placement
  readonly settings: Readonly<Record<string, string>> | undefined
  readonly log: Logger
  readonly postmaster: Postmaster
}

/** A server that is started again, on its port, whenever it ends before its time. */
export class SupervisedPostmaster implements AsyncDisposable {
  readonly #deps: Omit<SupervisedPostmasterDeps, 'postmaster'>
  readonly #stopping = new AbortController()
  readonly #keeping: Promise<void>
  #postmaster: Postmaster
  #stopRestarting = false
  /** How the last one ended, while none is back. */
  #ending: PostmasterExit | undefined

  constructor({ postmaster, ...deps }: SupervisedPostmasterDeps) {
    this.#deps = deps
    this.#postmaster = postmaster
    this.#keeping = this.#keep()
  }

  get pid(): number {
    return this.#postmaster.pid
  }

  stopRestarting(): void {
    this.#stopRestarting = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopRestarting = true
    this.#stopping.abort()
    await stopPostmaster(this.#deps.placement.cluster)
    await this.#keeping
    // An orderly end leaves nothing undone: systemd tells every process of a service to stop, this one too.
    if (this.#ending === undefined || this.#ending.exitCode === 0) return
    const { cluster, logFile } = this.#deps.placement
    throw new SetupError(
      `The embedded PostgreSQL in "${cluster}" had ended before the service did (see "${logFile}"): ` +
        'what was not acknowledged and the last counts are lost; the next start recovers everything else',
    )
  }

  async #keep(): Promise<void> {
    const { signal } = this.#stopping
    for (let attempt = 1; ;) {
      const since = performance.now()
      const ending = await this.#postmaster.exited
      if (signal.aborted) return
      this.#ending = ending
      const { placement, log } = this.#deps
      const fields = { postgresPid: this.pid, ...ending, postgresLog: placement.logFile }
      log.error(fields, 'embedded postgres ended')
      if (performance.now() - since > STEADY_MS) attempt = 1
      while (this.#ending !== undefined) {
        if (attempt > 1) await this.#pause(backoffMs(attempt - 1, BACKOFF))
        if (this.#stopRestarting) return
        await this.#startAgain(attempt)
        attempt++
      }
    }
  }

  async #startAgain(attempt: number): Promise<void> {
    const { placement, settings, log } = this.#deps
    const { port } = this.#postmaster
    const { signal } = this.#stopping
    const startedAt = performance.now()
    try {
      this.#postmaster = await startPostmaster(placement, { settings, port, signal })
      this.#ending = undefined
      const durationMs = Math.round(performance.now() - startedAt)
      const fields = { postgresPid: this.pid, postgresPort: port, attempt, durationMs }
      log.info(fields, 'embedded postgres started again')
    } catch (error) {
      if (!signal.aborted) log.error({ err: error, attempt }, 'embedded postgres not started again')
    }
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => {})
  }
}
