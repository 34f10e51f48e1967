import { join } from 'node:path'

import { atOnce } from '#base/at-once.ts'
import { installRoot } from '#config/install-root.ts'
import { SetupError } from '#config/setup-error.ts'
import type { Logger } from '#platform/log/logger.ts'
import { migrateDatabase } from '#platform/migrate-database.ts'
import { objectPages } from '#platform/objects/object-pages.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import { type SqlClient, type SqlRunner, createClient } from '#platform/postgres/client.ts'
import { readMigrations } from '#platform/postgres/migrations.ts'

import { OBJECTS_PREFIX } from './back-up.ts'
import type { BackupPlace } from './backup-place.ts'
import { readChunk } from './chunks.ts'
import {
  analyzeTables,
  countOtherSessions,
  countSites,
  lockSites,
  selectHasSchema,
  selectQueueVersion,
} from './installation-queries.ts'
import { loadTables } from './load-tables.ts'
import { type BackupKey, type Manifest, type OpenedManifest, assertKeyFits } from './manifest.ts'
import { type DumpedObject, readObjectIndex } from './object-index.ts'
import { BackupProgress } from './progress.ts'

/** With a piece each at most 32 MiB of memory, and what S3 has of a long one on its disk. */
const OBJECTS_AT_ONCE = 6

interface ObjectLoad {
  readonly objects: Pick<ObjectStore, 'list' | 'put' | 'head'>
  readonly place: BackupPlace
  readonly manifest: Manifest
  readonly progress: BackupProgress
}

/**
 * Makes an empty installation what another was at the moment of a backup. Objects come first and all rows in one transaction: killed
 * at any time it leaves an empty installation, which the next restore fills.
 */
export async function restoreBackup(
  deps: {
    readonly place: BackupPlace
    readonly databaseUrl: string
    readonly objects: ObjectLoad['objects']
    readonly key: BackupKey
    readonly log: Logger
    readonly say: (line: string) => void
  },
  backup: OpenedManifest,
): Promise<void> {
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

/** Writes every object of a backup, but for those that a restore which was killed has written. */
async function loadObjects(load: ObjectLoad): Promise<void> {
  const { objects, kept } = load.manifest
  for (const index of [objects, kept]) {
    const one = (object: DumpedObject) => loadObject(load, object)
    const all = atOnce(readObjectIndex(load.place, index), OBJECTS_AT_ONCE, one)
    for await (const bytes of all) load.progress.count({ objects: 1, objectBytes: bytes })
  }
}

/** Refuses a store with objects that are not the backup's: nothing would refer to them. */
async function assertNoOthers(load: ObjectLoad, prefix: string): Promise<void> {
  const { objects, place, manifest } = load
  const { objects: first } = await objects.list({ prefix, maxKeys: 1 })
  if (first.length === 0) return
  const ours = new Set<string>()
  for (const index of [manifest.objects, manifest.kept]) {
    for await (const { key } of readObjectIndex(place, index)) ours.add(key)
  }
  for await (const page of objectPages(objects, prefix)) {
    const other = page.find(({ key }) => !ours.has(key))
    if (other !== undefined) {
      throw new SetupError(
        `The object store is not empty: it has "${other.key}", which is not in the backup. Restore into an empty one`,
      )
    }
  }
}

async function loadObject(
  { objects, place }: ObjectLoad,
  { key, sizeBytes, etag, contentType, metadata, pieces }: DumpedObject,
): Promise<number> {
  const there = await objects.head(key)
  if (there?.sizeBytes === sizeBytes && there.etag === etag) return sizeBytes
  const body = pieces.length > 1 ? streamOf(place, pieces) : await whole(place, pieces)
  const { sizeBytes: written } = await objects.put(key, body, { contentType, metadata })
  if (written === sizeBytes) return sizeBytes
  throw new SetupError(`The object "${key}" has ${written} bytes instead of ${sizeBytes}`)
}

function streamOf(place: BackupPlace, pieces: readonly string[]): ReadableStream<Uint8Array> {
  const left = [...pieces]
  return new ReadableStream(
    {
      async pull(controller) {
        const sha256 = left.shift()
        if (sha256 === undefined) controller.close()
        else controller.enqueue(await readChunk(place, { sha256, form: 'plain' }))
      },
    },
    { highWaterMark: 0 },
  )
}

/** What is at hand as a whole is written with fewer steps. */
async function whole(place: BackupPlace, [sha256]: readonly string[]): Promise<Uint8Array> {
  return sha256 === undefined ? new Uint8Array() : readChunk(place, { sha256, form: 'plain' })
}
