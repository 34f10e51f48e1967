import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { migrateDatabase } from '#platform/migrate-database.ts'
import { type SqlClient, createClient } from '#platform/postgres/client.ts'
import { startEmbeddedPostgres } from '#platform/postgres/embedded/embedded-postgres.ts'
import { type PostgresPlatform, connectPostgres } from '#platform/postgres/postgres.ts'
import { silentLog as log } from '#test/silent-log.ts'

/** A checkpoint in the middle of a round would count against the subject that is being measured. */
const SETTINGS = { max_wal_size: '4GB' }
const UNSAFE = { synchronous_commit: 'off', fsync: 'off', full_page_writes: 'off' }

/** The embedded database as an installation has it, with a client of our own on the same server. */
export interface BenchDatabase {
  readonly platform: PostgresPlatform
  /** As many connections as the platform's pool has, as the owner of the tables. */
  readonly sql: SqlClient
}

/** `durable` as the service has it: a put waits for the disk. */
export async function openBenchDatabase(
  { connections, durable }: { readonly connections: number; readonly durable: boolean },
  running: AsyncDisposableStack,
): Promise<BenchDatabase> {
  const settings = durable ? SETTINGS : { ...SETTINGS, ...UNSAFE }
  const dataDir = await mkdtemp(join(tmpdir(), 'croft-bench-tables-'))
  running.defer(() => rm(dataDir, { recursive: true, force: true }))
  // As root the database runs as another user, which needs access to the folder.
  await chmod(dataDir, 0o711)
  const server = running.use(await startEmbeddedPostgres({ dataDir, log, settings }))
  await migrateDatabase({ url: server.url, log })
  const sql = createClient({ url: server.url, max: connections })
  running.defer(() => sql.end({ timeout: 5 }))
  const platform = running.use(
    await connectPostgres({ url: server.url, log, poolSize: connections }),
  )
  return { platform, sql }
}
