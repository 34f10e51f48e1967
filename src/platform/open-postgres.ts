import type { Config, Secrets } from '#config/config.ts'
import type { Logger } from '#platform/log/logger.ts'
import { assertUsable } from '#platform/postgres/assert-usable.ts'
import { startEmbeddedPostgres } from '#platform/postgres/embedded/embedded-postgres.ts'
import { type PostgresPlatform, connectPostgres } from '#platform/postgres/postgres.ts'

import { migrateDatabase } from './migrate-database.ts'

interface OpenPostgresOptions {
  readonly config: Pick<Config, 'dataDir'>
  readonly secrets: Pick<Secrets, 'databaseUrl'>
  readonly log: Logger
}

export interface OpenedPostgres extends PostgresPlatform {
  /** Where the embedded database is; undefined for another. */
  readonly cluster: string | undefined
  /** An embedded server that ends from now on is not started again. */
  stopRestarting(): void
}

/**
 * The database of `DATABASE_URL`, or the embedded one of the data folder, migrated and ready. Disposing closes the
 * connections and stops the embedded server. Hold the lock of the data folder before.
 */
export async function openPostgres(options: OpenPostgresOptions): Promise<OpenedPostgres> {
  const { log } = options
  const { databaseUrl } = options.secrets
  await using opened = new AsyncDisposableStack()
  const server =
    databaseUrl === undefined
      ? opened.use(await startEmbeddedPostgres({ dataDir: options.config.dataDir, log }))
      : { url: databaseUrl, cluster: undefined, stopRestarting() {} }
  const { url, cluster } = server
  await assertUsable(url)
  await migrateDatabase({ url, log })
  const platform = opened.use(await connectPostgres({ url, log }))
  const resources = opened.move()
  return {
    ...platform,
    cluster,
    stopRestarting: () => server.stopRestarting(),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
