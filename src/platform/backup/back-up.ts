import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

import { mapConcurrent } from '#base/map-concurrent.ts'
import { SetupError } from '#config/setup-error.ts'
import { keptKey } from '#platform/objects/kept-objects.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import type { CatalogueTable } from '#platform/postgres/catalogue.ts'
import { type SqlClient, createClient, type SqlRunner } from '#platform/postgres/client.ts'
import { selectAppRole } from '#platform/postgres/role.ts'

import type { BackupPlace } from './backup-place.ts'
import { Chunks } from './chunks.ts'
import { type ObjectDump, dumpObjects, readObject } from './dump-objects.ts'
import {
  selectKeptKeys,
  deleteHold,
  expireHold,
  insertHold,
  renewHold,
  selectExpiredHolds,
} from './hold-queries.ts'
import {
  selectClockTime,
  selectKnowsHolds,
  type DatabaseFacts,
  selectDatabaseFacts,
} from './installation-queries.ts'
import { upsertLastBackup } from './last-backup-queries.ts'
import { Lease } from './lease.ts'
import {
  type BackupKey,
  FORMAT,
  type Manifest,
  keyCheckOf,
  listBackups,
  readManifest,
  writeManifest,
  type DumpedTable,
} from './manifest.ts'
import { isLeftOut } from './not-backed-up.ts'
import { readObjectIndex, writeObjectIndex } from './object-index.ts'
import { lockPlace } from './place-lock.ts'
import { BackupProgress } from './progress.ts'
import { rowChunks } from './row-chunks.ts'
import { selectSequences, selectTables } from './table-queries.ts'

/** Under which all objects are that rows or sites name. */
export const OBJECTS_PREFIX = 'sites/'
const SNAPSHOT = 'isolation level repeatable read read only'

/** Chunks of rows that are compressed and written at once: with the one that is being read at most 20 MiB of memory, and their compressed forms. */
const CHUNKS_AT_ONCE = 4

const RENEW_MS = 10_000
const LIFETIME_SECONDS = 60
/** How long until every process of the service knows of an announcement: it reads them again after a second. */
const SETTLE_MS = 3000

export interface BackUpDeps {
  readonly place: BackupPlace
  /** Of a role that row-level security hides nothing from. */
  readonly databaseUrl: string
  readonly objects: Pick<ObjectStore, 'list' | 'get' | 'delete'>
  readonly key: BackupKey
  /** The version of this program. */
  readonly croft: string
  readonly say: (line: string) => void
}

interface HoldDeps {
  readonly sql: SqlClient
  readonly objects: Pick<ObjectStore, 'delete'>
}

interface ObjectHold {
  /** By the database's clock. */
  readonly moment: Date
  readonly lease: Lease
}

/**
 * Makes a backup of a service that may be running: all rows as they were at one moment, and the objects of that moment. Killed at any
 * time it leaves nothing that looks like a backup, and what it has sent already is not sent again.
 */
export async function backUp(deps: BackUpDeps): Promise<Manifest> {
  const { place, databaseUrl, say } = deps
  await using lock = await lockPlace(place, { say })
  const sql = createClient({ url: databaseUrl, max: 3 })
  try {
    await assertSeesAll(sql)
    const id = await newId(sql)
    const { moment, lease } = await holdObjects({ sql, objects: deps.objects }, id)
    await using hold = lease
    const lost = AbortSignal.any([hold.lost, lock.lost])
    const manifest = await unlessAborted(lost, dump({ ...deps, sql, lost, moment }, id))
    // Nothing is a backup that may lack something.
    await hold.assertHeld()
    await lock.assertHeld()
    await writeManifest(place, manifest, deps.key)
    await upsertLastBackup(sql, manifest)
    return manifest
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function dump(
  deps: BackUpDeps & {
    readonly sql: SqlClient
    /** Aborted when there is no use in going on. */
    readonly lost: AbortSignal
    /** It has gone by: what was acknowledged before it is in the snapshot of the rows, too. */
    readonly moment: Date
  },
  id: string,
): Promise<Manifest> {
  const { place, sql, objects, key, croft, moment } = deps
  const chunks = await Chunks.open(place)
  const progress = new BackupProgress(deps.say, deps.lost)
  const database = await sql.begin(SNAPSHOT, async (tx) => {
    const snapshot = await takeSnapshot(tx)
    const tables = await dumpTables(tx, chunks, progress)
    return { ...snapshot, tables, sequences: await selectSequences(tx) }
  })
  const { tables, sequences, migrations, ...facts } = database
  const reading = { objects, chunks, progress }
  const before = objectsBefore(deps)
  const listed = await writeObjectIndex(chunks, dumpObjects(reading, OBJECTS_PREFIX, before))
  const kept = await writeObjectIndex(chunks, dumpKept(reading, sql, id))
  deps.say(`${progress.line()}.`)
  return {
    format: FORMAT,
    id,
    ...facts,
    moment: moment.toISOString(),
    finishedAt: (await selectClockTime(sql)).toISOString(),
    croft,
    migrations: [...migrations],
    keyCheck: keyCheckOf(key, id),
    tables,
    sequences,
    objects: listed,
    kept,
    sent: { ...chunks.sent },
  }
}

/** What the newest backup has of objects, if there is one that can be read. */
async function* objectsBefore({ place, say }: Pick<BackUpDeps, 'place' | 'say'>) {
  if ((await listBackups(place)).length === 0) return
  try {
    const { manifest } = await readManifest(place, undefined)
    yield* readObjectIndex(place, manifest.objects)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    say(`${error.message}: every object is read again`)
  }
}

/** Behind all others: whatever went until then is among these. */
async function* dumpKept(dump: ObjectDump, sql: SqlClient, holdId: string) {
  for await (const key of selectKeptKeys(sql, holdId)) {
    const object = await readObject(dump, key, keptKey(holdId, key))
    if (object === undefined)
      throw new SetupError(`The object "${key}" went while it was backed up`)
    yield object
  }
}

/** Stops waiting for a statement without an answer. */
async function unlessAborted<Result>(lost: AbortSignal, work: Promise<Result>): Promise<Result> {
  const aborted = Promise.withResolvers<never>()
  lost.addEventListener('abort', () => aborted.reject(lost.reason), { once: true })
  work.catch(() => {})
  return Promise.race([work, aborted.promise])
}

async function assertSeesAll(sql: SqlClient): Promise<void> {
  if (!(await selectKnowsHolds(sql))) {
    throw new SetupError(
      'The database is of an earlier Croft, or empty: start this version once, or run "croft migrate"',
    )
  }
  if ((await selectAppRole(sql)) !== undefined) return
  throw new SetupError(
    'Row-level security hides rows from the role of the database URL: set BACKUP_DATABASE_URL to one that bypasses it, ' +
      'a superuser or the owner of the tables after "alter role … bypassrls"',
  )
}

/** Sorts by time, and is another for each backup. */
async function newId(sql: SqlClient): Promise<string> {
  const time = (await selectClockTime(sql)).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return `${time}-${randomBytes(3).toString('hex')}`
}

/** Begins to see the database as it is now; `tx` is a fresh transaction that is `repeatable read`. */
async function takeSnapshot(tx: SqlRunner): Promise<DatabaseFacts> {
  // One row after the other, as they lie: otherwise two backups of the same rows would differ.
  await tx`set local synchronize_seqscans = off`
  await tx`set local max_parallel_workers_per_gather = 0`
  await tx`set local timezone = 'UTC'`
  await tx`set local datestyle = 'ISO'`
  // A role that does not see all rows fails.
  await tx`set local row_security = off`
  return selectDatabaseFacts(tx)
}

/** Every row of a snapshot, table by table. */
async function dumpTables(
  tx: SqlRunner,
  chunks: Chunks,
  progress: BackupProgress,
): Promise<DumpedTable[]> {
  const tables = (await selectTables(tx)).filter((table) => !isLeftOut(table))
  progress.expect({ tables: tables.length })
  const dumped: DumpedTable[] = []
  for (const table of tables) {
    dumped.push(await dumpTable(tx, table, { chunks, progress }))
    progress.count({ tables: 1 })
  }
  return dumped
}

async function dumpTable(
  tx: SqlRunner,
  { schema, name, columns }: CatalogueTable,
  { chunks, progress }: { readonly chunks: Chunks; readonly progress: BackupProgress },
): Promise<DumpedTable> {
  // What the database computes is computed again.
  const names = columns.filter(({ isGenerated }) => !isGenerated).map((column) => column.name)
  const text = await tx`
    copy (select ${tx(names)} from ${tx(schema)}.${tx(name)}) to stdout`.readable()
  const table = { rows: 0, bytes: 0, chunks: [] as string[] }
  const put = async ({ content, rows }: { content: Buffer; rows: number }) => {
    const sha256 = await chunks.put(content, 'packed')
    return { sha256, rows, bytes: content.byteLength }
  }
  for await (const { sha256, rows, bytes } of mapConcurrent(rowChunks(text), CHUNKS_AT_ONCE, put)) {
    table.chunks.push(sha256)
    table.rows += rows
    table.bytes += bytes
    progress.count({ rows, rowBytes: bytes })
  }
  return { schema, name, columns: names, ...table }
}

/**
 * From the moment on that this gives, no object goes that is there: it is kept beside for this backup, until the lease is disposed.
 * All processes learn of that moment before it comes: what one of them kept earlier would be older than the moment, and in the way of what
 * is of it. Resolves when it has come.
 */
async function holdObjects(deps: HoldDeps, holdId: string): Promise<ObjectHold> {
  const { sql } = deps
  // What backups have left that were killed.
  for (const expired of await selectExpiredHolds(sql)) await remove(deps, expired)
  const moment = await insertHold(sql, holdId, {
    beginsInMs: SETTLE_MS,
    lifetimeSeconds: LIFETIME_SECONDS,
  })
  const lease = new Lease({
    everyMs: RENEW_MS,
    renew: async () => {
      if (!(await renewHold(sql, holdId, LIFETIME_SECONDS))) throw lost()
    },
    release: () => remove(deps, holdId),
  })
  try {
    await until(sql, moment)
  } catch (error) {
    await lease[Symbol.asyncDispose]()
    throw error
  }
  return { moment, lease }
}

async function until(sql: SqlClient, moment: Date): Promise<void> {
  for (;;) {
    const leftMs = moment.getTime() - (await selectClockTime(sql)).getTime()
    if (leftMs < 0) return
    await delay(leftMs + 1)
  }
}

/** It expires first, so that no caller keeps more for it. */
async function remove({ sql, objects }: HoldDeps, holdId: string): Promise<void> {
  await expireHold(sql, holdId)
  for await (const key of selectKeptKeys(sql, holdId)) await objects.delete(keptKey(holdId, key))
  await deleteHold(sql, holdId)
}

const lost = (): SetupError =>
  new SetupError(
    'The backup was away from the database for more than a minute, and objects that it wanted may be gone: run it again',
  )
