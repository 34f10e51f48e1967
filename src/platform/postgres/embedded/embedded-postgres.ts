import type { Logger } from '#platform/log/logger.ts'

import { type Binaries, findBinaries } from './binaries.ts'
import { openCluster } from './cluster.ts'
import { choosePlacement } from './placement.ts'
import { startPostmaster } from './postmaster.ts'
import { SupervisedPostmaster } from './supervised-postmaster.ts'

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

export interface EmbeddedPostgres extends AsyncDisposable {
  /** Contains the superuser's password: never log it. */
  readonly url: string
  /** The process that was started last. */
  readonly pid: number
  readonly adopted: boolean
  /** PostgreSQL's own data folder. */
  readonly cluster: string
  /** Keeps the server from being started again when it ends; a start that is under way goes on. */
  stopRestarting(): void
}

/**
 * A real PostgreSQL from npm, on 127.0.0.1 and a free port. It outlives a killed service, and is started again when it
 * ends by itself. Disposing stops it, and fails when it had ended and is not back.
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
  const postmaster = await startPostmaster(placement, { settings })
  const { pid, port, adopted } = postmaster
  const kept = new SupervisedPostmaster({ placement, settings, log, postmaster })
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
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    get pid() {
      return kept.pid
    },
    adopted,
    cluster: placement.cluster,
    stopRestarting: () => kept.stopRestarting(),
    [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose](),
  }
}
