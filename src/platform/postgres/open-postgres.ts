import type { Config, Secrets } from '#config/config.ts'
import type { Logger } from '#platform/log/logger.ts'

import { assertUsable } from './assert-usable.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded/embedded-postgres.ts'
import { type PostgresPlatform, connectPostgres, migrateDatabase } from './postgres.ts'

export interface OpenPostgresOptions {
  readonly config: Pick<Config, 'dataDir'>
  readonly secrets: Pick<Secrets, 'databaseUrl'>
  readonly log: Logger
  readonly poolSize?: number
}

export interface OpenedPostgres extends PostgresPlatform {
  /** An embedded server that ends from now on is not started again. */
  leaveEnded(): void
}

/**
 * The database of `DATABASE_URL`, or the embedded one of the data folder, migrated and ready. Disposing closes the
 * connections and stops the embedded server. Hold the lock of the data folder before.
 */
export async function openPostgres(options: OpenPostgresOptions): Promise<OpenedPostgres> {
  await using opened = new AsyncDisposableStack()
  const { databaseUrl } = options.secrets
  const server =
    databaseUrl === undefined
      ? await startEmbedded(opened, options)
      : { url: databaseUrl, leaveEnded: () => {} }
  const { url } = server
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
  return {
    ...platform,
    leaveEnded: () => server.leaveEnded(),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

async function startEmbedded(
  opened: AsyncDisposableStack,
  { config, log }: OpenPostgresOptions,
): Promise<EmbeddedPostgres> {
  return opened.use(await startEmbeddedPostgres({ dataDir: config.dataDir, log }))
}
