import { once } from 'node:events'
import { join } from 'node:path'
import type { Writable } from 'node:stream'

import { mapConcurrent } from '#base/map-concurrent.ts'
import { installRoot } from '#config/install-root.ts'
import { SetupError } from '#config/setup-error.ts'
import type { Logger } from '#platform/log/logger.ts'
import { migrateDatabase } from '#platform/migrate-database.ts'
import { objectPages } from '#platform/objects/object-pages.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import { runOn, selectReferences } from '#platform/postgres/catalogue-queries.ts'
import { type CatalogueTable, inOrder, tableName } from '#platform/postgres/catalogue.ts'
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
import {
  type BackupKey,
  type Manifest,
  type OpenedManifest,
  assertKeyFits,
  type DumpedTable,
} from './manifest.ts'
import { isLeftOut } from './not-backed-up.ts'
import { type DumpedObject, readObjectIndex } from './object-index.ts'
import { BackupProgress } from './progress.ts'
import { countRows, selectTables, setSequence } from './table-queries.ts'

/** With a piece each at most 32 MiB of memory, and what S3 has of a long one on its disk. */
const OBJECTS_AT_ONCE = 6

interface ObjectLoad {
  readonly objects: Pick<ObjectStore, 'list' | 'put' | 'head'>
  readonly place: BackupPlace
  readonly manifest: Manifest
  readonly progress: BackupProgress
}

interface LoadDeps {
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

/** A service that runs on this database would see it change. */
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

/** Writes every object of a backup, except for those that an interrupted restore has written. */
async function loadObjects(load: ObjectLoad): Promise<void> {
  const { objects, kept } = load.manifest
  for (const index of [objects, kept]) {
    const one = (object: DumpedObject) => loadObject(load, object)
    const all = mapConcurrent(readObjectIndex(load.place, index), OBJECTS_AT_ONCE, one)
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

/** An object that is a whole buffer is written with fewer steps. */
async function whole(place: BackupPlace, [sha256]: readonly string[]): Promise<Uint8Array> {
  return sha256 === undefined ? new Uint8Array() : readChunk(place, { sha256, form: 'plain' })
}

/**
 * Fills the tables of an empty installation with the rows of a backup; `tx` commits all of them, or none. The schema is that of the
 * backup.
 */
async function loadTables(tx: SqlRunner, { place, manifest, progress }: LoadDeps): Promise<void> {
  const there = (await selectTables(tx)).filter((table) => !isLeftOut(table))
  const tables = inOrder(
    manifest.tables.map((dumped) => ({ ...dumped, into: tableFor(dumped, there) })),
    await selectReferences(runOn(tx)),
  )
  progress.expect({ tables: tables.length })
  await tx`truncate ${tx.unsafe(there.map(quoted).join(', '))}`
  for (const table of there) await openTable(tx, table)
  for (const table of tables) {
    await loadTable(tx, place, table)
    progress.count({ tables: 1, rows: table.rows, rowBytes: table.bytes })
  }
  for (const sequence of manifest.sequences) await setSequence(tx, sequence)
  for (const table of there) await closeTable(tx, table)
}

async function loadTable(tx: SqlRunner, place: BackupPlace, table: DumpedTable): Promise<void> {
  const { schema, name, columns, chunks } = table
  const into = await tx`
    copy ${tx(schema)}.${tx(name)} (${tx(columns)}) from stdin`.writable()
  const refused = Promise.withResolvers<never>()
  into.once('error', refused.reject)
  refused.promise.catch(() => {})
  for (const sha256 of chunks) {
    const rows = await readChunk(place, { sha256, form: 'packed' })
    await Promise.race([refused.promise, write(into, rows)])
  }
  into.end()
  // When all rows were sent and are refused as a whole, the driver reports nothing, but the statement behind them fails.
  await Promise.race([refused.promise, once(into, 'finish'), tx`select 1`]).catch((cause) => {
    throw new SetupError(
      `The rows of the table "${tableName(table)}" are refused: ${String(cause)}`,
      { cause },
    )
  })
  const rows = await countRows(tx, table)
  if (rows === table.rows) return
  throw new SetupError(
    `The table "${tableName(table)}" has ${rows} rows instead of ${table.rows}: nothing was restored`,
  )
}

/** Resolves when more may be written. */
const write = (into: Writable, rows: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    into.write(rows, (error) => (error ? reject(error) : resolve()))
  })

/** Its owner may write every site's rows, and nothing is done at each row. */
async function openTable(tx: SqlRunner, { schema, name, isForced }: CatalogueTable): Promise<void> {
  await tx`alter table ${tx(schema)}.${tx(name)} disable trigger user`
  if (isForced) await tx`alter table ${tx(schema)}.${tx(name)} no force row level security`
}

async function closeTable(
  tx: SqlRunner,
  { schema, name, isForced }: CatalogueTable,
): Promise<void> {
  await tx`alter table ${tx(schema)}.${tx(name)} enable trigger user`
  if (isForced) await tx`alter table ${tx(schema)}.${tx(name)} force row level security`
}

function tableFor(dumped: DumpedTable, there: readonly CatalogueTable[]): CatalogueTable {
  const table = there.find((one) => tableName(one) === tableName(dumped))
  const missing = dumped.columns.find(
    (column) =>
      table?.columns.some(({ name, isGenerated }) => name === column && !isGenerated) !== true,
  )
  if (table !== undefined && missing === undefined) return table
  throw new SetupError(
    `The backup has ${table === undefined ? '' : `the column "${missing}" of `}the table "${tableName(dumped)}", which this Croft does not have: restore with the version that made it, then upgrade`,
  )
}

const quoted = ({ schema, name }: CatalogueTable): string => `"${schema}"."${name}"`
