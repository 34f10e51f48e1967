import { setTimeout as delay } from 'node:timers/promises'

import { backoffMs } from '#base/backoff.ts'
import { SetupError } from '#config/setup-error.ts'
import type { Logger } from '#platform/log/logger.ts'

import { type Binaries, findBinaries } from './binaries.ts'
import { openCluster } from './cluster.ts'
import { type Placement, choosePlacement } from './placement.ts'
import {
  type Postmaster,
  type PostmasterExit,
  STOP_SIGNAL,
  startPostmaster,
  stopPostmaster,
} from './postmaster.ts'
import { requireRoom, waitForRoom } from './room-to-start.ts'

const BACKOFF = { baseMs: 200, maxMs: 10_000 }
/** A server that lived this long is started again at once. */
const STEADY_MS = 60_000
const AWAKE_MS = 1000

export interface EmbeddedPostgresOptions {
  /** Absolute; the database lives in its `postgres` folder, or says there where it is. */
  readonly dataDir: string
  readonly log: Logger
  /** Over the built-in ones, for this start only. */
  readonly settings?: Readonly<Record<string, string>>
  /** What runs; what npm installed when left out. */
  readonly binaries?: Binaries
  /** Where the database goes when its account cannot reach the data folder; `/var/lib/croft`. */
  readonly elsewhere?: string
}

/**
 * A real PostgreSQL from npm, on 127.0.0.1 and a free port. It outlives a killed service, and is started again when it
 * ends by itself. Disposing stops it, and fails when it had ended and is not back; a program that ends without disposing tells
 * it to stop, and does not wait.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const startedAt = performance.now()
  const placement = await choosePlacement({
    ...options,
    binaries: options.binaries ?? findBinaries(),
  })
  const password = await openCluster(placement)
  const { settings, log } = options
  await requireRoom(placement.cluster)
  const postmaster = await startPostmaster(placement, { settings })
  const { pid, port, adopted } = postmaster
  log.info(
    {
      postgresPid: pid,
      postgresPort: port,
      adopted,
      folder: placement.cluster,
      durationMs: Math.round(performance.now() - startedAt),
    },
    'embedded postgres ready',
  )
  return new EmbeddedPostgres({ placement, settings, log, password }, postmaster)
}

/** A server that is started again, on its port, whenever it ends before its time. */
export class EmbeddedPostgres implements AsyncDisposable {
  /** Contains the superuser's password: never log it. */
  readonly url: string
  readonly adopted: boolean
  /** PostgreSQL's own data folder. */
  readonly cluster: string
  readonly #deps
  readonly #stopping = new AbortController()
  readonly #keeping: Promise<void>
  #postmaster: Postmaster
  #stopRestarting = false
  /** How the last one ended, while none is back. */
  #ending: PostmasterExit | undefined

  constructor(
    deps: {
      readonly placement: Placement
      readonly settings: EmbeddedPostgresOptions['settings'] | undefined
      readonly log: Logger
      readonly password: string
    },
    postmaster: Postmaster,
  ) {
    this.url = `postgres://postgres:${deps.password}@127.0.0.1:${postmaster.port}/postgres`
    this.adopted = postmaster.adopted
    this.cluster = deps.placement.cluster
    this.#deps = deps
    this.#postmaster = postmaster
    this.#keeping = this.#keep()
    process.on('exit', this.#endWithProgram)
  }

  /** The process that was started last. */
  get pid(): number {
    return this.#postmaster.pid
  }

  /** Keeps the server from being started again when it ends; a start in progress goes on. */
  stopRestarting(): void {
    this.#stopRestarting = true
  }

  readonly #endWithProgram = (): void => {
    if (this.#ending !== undefined) return
    try {
      process.kill(this.pid, STOP_SIGNAL)
    } catch {
      // It has ended already.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopRestarting = true
    this.#stopping.abort()
    await stopPostmaster(this.cluster)
    // Postgres itself keeps no program from ending, and a program with nothing else to do would end right here.
    const awake = setInterval(() => {}, AWAKE_MS)
    await this.#keeping.finally(() => clearInterval(awake))
    process.off('exit', this.#endWithProgram)
    // An orderly end leaves nothing undone: systemd tells every process of a service to stop, this one too.
    if (this.#ending === undefined || this.#ending.exitCode === 0) return
    const { logFile } = this.#deps.placement
    throw new SetupError(
      `The embedded PostgreSQL in "${this.cluster}" had ended before the service did (see "${logFile}"): ` +
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
        await waitForRoom(this.cluster, { log, signal })
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
