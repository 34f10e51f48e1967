import type { Logger } from '#platform/log/logger.ts'

import { type Binaries, findBinaries } from './binaries.ts'
import { openCluster } from './cluster.ts'
import { place } from './placement.ts'
import { startPostmaster, stopPostmaster } from './postmaster.ts'

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
  /** With the superuser's password: never log it. */
  readonly url: string
  readonly pid: number
  readonly adopted: boolean
  /** PostgreSQL's own data folder. */
  readonly cluster: string
}

/** A real PostgreSQL from npm, on 127.0.0.1 and a free port. It outlives a killed service; disposing stops it. */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const startedAt = performance.now()
  const placement = await place({ ...options, binaries: options.binaries ?? findBinaries() })
  const password = await openCluster(placement)
  const { pid, port, adopted } = await startPostmaster(placement, options.settings)
  options.log.info(
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
    pid,
    adopted,
    cluster: placement.cluster,
    [Symbol.asyncDispose]: () => stopPostmaster(placement.cluster),
  }
}
