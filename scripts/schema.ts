import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { migrateDatabase } from '#platform/migrate-database.ts'
import { createClient } from '#platform/postgres/client.ts'
import { startEmbeddedPostgres } from '#platform/postgres/embedded/embedded-postgres.ts'
import { silentLog as log } from '#test/silent-log.ts'

import { SCHEMA_FILE, schemaSource } from './schema/schema-source.ts'

/** Writes the types of the tables, after a migration was added. */
const dataDir = await mkdtemp(join(tmpdir(), 'croft-schema-'))
try {
  // As root the database runs as another account, which must reach it.
  await chmod(dataDir, 0o711)
  await using server = await startEmbeddedPostgres({ dataDir, log, settings: { fsync: 'off' } })
  await migrateDatabase({ url: server.url, log })
  const sql = createClient({ url: server.url, max: 1 })
  const source = await schemaSource(sql)
  await sql.end({ timeout: 5 })
  await writeFile(resolve(import.meta.dirname, '..', SCHEMA_FILE), source)
} finally {
  await rm(dataDir, { recursive: true, force: true })
}
