import { join } from 'node:path'

import { installRoot } from '#config/install-root.ts'
import { SetupError } from '#config/setup-error.ts'
import type { Logger } from '#platform/log/logger.ts'
import { migrateDatabase } from '#platform/migrate-database.ts'
import { type SqlClient, type SqlRunner, createClient } from '#platform/postgres/client.ts'
import { readMigrations } from '#platform/postgres/migrations.ts'

import { OBJECTS_PREFIX } from './back-up.ts'
import type { BackupPlace } from './backup-place.ts'
import {
  analyzeTables,
  countOtherSessions,
  countSites,
  lockSites,
  selectHasSchema,
  selectQueueVersion,
} from './installation-queries.ts'
import { type ObjectLoad, assertNoOthers, loadObjects } from './load-objects.ts'
import { loadTables } from './load-tables.ts'
import { type BackupKey, type Manifest, type OpenedManifest, assertKeyFits } from './manifest.ts'
import { BackupProgress } from './progress.ts'

export interface RestoreDeps {
  readonly place: BackupPlace
  readonly databaseUrl: string
  readonly objects: ObjectLoad['objects']
  readonly key: BackupKey
  readonly log: Logger
  readonly say: (line: string) => void
}

/**
 * Makes an empty installation what another was at the moment of a backup. Objects come first and all rows in one transaction: killed
 * at any time it leaves an empty installation, which the next restore fills.
 */
export async function restoreBackup(deps: RestoreDeps, backup: OpenedManifest): Promise<void> {
  const { databaseUrl, log, say } = deps
  const { manifest } = backup
  assertKeyFits(backup, deps.key)
  await assertKnown(manifest)
  const progress = new BackupProgress(say)
  const load = { ...deps, manifest, progress }
  const sql = createClient({ url: databaseUrl, max: 1, maxLifetimeSeconds: null })
  try {
    await assertUnused(sql)
    await assertNoOthers(load, OBJECTS_PREFIX)
    await loadObjects(load)
    const only = new Set(manifest.migrations.map(({ name }) => name))
    await migrateDatabase({ url: databaseUrl, log, only })
    await sql.begin(async (tx) => {
      await lockSites(tx)
      await assertEmpty(tx)
      await assertQueueIsKnown(tx, manifest)
      await loadTables(tx, load)
    })
    say(`${progress.line()}.`)
    await analyzeTables(sql)
    await migrateDatabase({ url: databaseUrl, log })
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Its schema must be one that this version has had. */
async function assertKnown({ id, migrations }: Manifest): Promise<void> {
  const known = await readMigrations(join(installRoot(), 'migrations'))
  for (const { name, sha256 } of migrations) {
    if (known.some((one) => one.name === name && one.sha256 === sha256)) continue
    throw new SetupError(
      `The backup "${id}" has the migration "${name}", which this version of Croft does not know, or knows otherwise: restore it with the version that made it, or a newer one`,
    )
  }
}

/** Whoever runs on this database would see it change under it. */
async function assertUnused(sql: SqlClient): Promise<void> {
  if ((await countOtherSessions(sql)) > 0) {
    throw new SetupError('A Croft runs on this database: stop it, and restore into an empty one')
  }
  if (await selectHasSchema(sql)) await assertEmpty(sql)
}

async function assertEmpty(sql: SqlRunner): Promise<void> {
  const sites = await countSites(sql)
  if (sites === 0) return
  throw new SetupError(
    `This installation is not empty, it has ${sites} sites: restore into a new database, or with another CROFT_DATA_DIR`,
  )
}

async function assertQueueIsKnown(tx: SqlRunner, { id, queueVersion }: Manifest): Promise<void> {
  if ((await selectQueueVersion(tx)) >= queueVersion) return
  throw new SetupError(
    `The backup "${id}" has a queue of a newer Croft: restore it with the version that made it, or a newer one`,
  )
}
