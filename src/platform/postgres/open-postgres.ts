import type { Config, Secrets } from '#config/config.ts'
import type { Logger } from '#platform/log/logger.ts'

import { assertUsable } from './assert-usable.ts'
import { startEmbeddedPostgres } from './embedded/embedded-postgres.ts'
import { type PostgresPlatform, connectPostgres, migrateDatabase } from './postgres.ts'

export interface OpenPostgresOptions {
  readonly config: Pick<Config, 'dataDir'>
  readonly secrets: Pick<Secrets, 'databaseUrl'>
  readonly log: Logger
  readonly poolSize?: number
}

/**
 * The database of `DATABASE_URL`, or the embedded one of the data folder, migrated and ready. Disposing closes the
 * connections and stops the embedded server. Hold the lock of the data folder before.
 */
export async function openPostgres(options: OpenPostgresOptions): Promise<PostgresPlatform> {
  await using opened = new AsyncDisposableStack()
  const url = options.secrets.databaseUrl ?? (await startEmbedded(opened, options))
  await assertUsable(url)
  await migrateDatabase({ url, log: options.log })
  const platform = opened.use(
    await connectPostgres({
      url,
      log: options.log,
      ...(options.poolSize !== undefined && { poolSize: options.poolSize }),
    }),
  )
  const parts = opened.move()
  return { ...platform, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

async function startEmbedded(
  opened: AsyncDisposableStack,
  { config, log }: OpenPostgresOptions,
): Promise<string> {
  const server = await startEmbeddedPostgres({ dataDir: config.dataDir, log })
  return opened.use(server).url
}
