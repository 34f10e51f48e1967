import { randomBytes } from 'node:crypto'

import { SetupError } from '#config/setup-error.ts'
import { keptKey } from '#platform/objects/kept-objects.ts'
import type { ObjectStore } from '#platform/objects/object-store.ts'
import { type SqlClient, createClient } from '#platform/postgres/client.ts'
import { selectAppRole } from '#platform/postgres/role.ts'

import type { BackupPlace } from './backup-place.ts'
import { Chunks } from './chunks.ts'
import { type ObjectDump, dumpObjects, readObject } from './dump-objects.ts'
import { dumpTables, takeSnapshot } from './dump-tables.ts'
import { selectKeptKeys } from './hold-queries.ts'
import { selectClockTime, selectKnowsHolds } from './installation-queries.ts'
import { upsertLastBackup } from './last-backup-queries.ts'
import {
  type BackupKey,
  FORMAT,
  type Manifest,
  keyCheckOf,
  listBackups,
  readManifest,
  writeManifest,
} from './manifest.ts'
import { holdObjects } from './object-hold.ts'
import { readObjectIndex, writeObjectIndex } from './object-index.ts'
import { lockPlace } from './place-lock.ts'
import { BackupProgress } from './progress.ts'
import { selectSequences } from './table-queries.ts'

/** Under which all objects are that rows or sites name. */
export const OBJECTS_PREFIX = 'sites/'
const SNAPSHOT = 'isolation level repeatable read read only'

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

interface DumpDeps extends BackUpDeps {
  readonly sql: SqlClient
  /** Aborted when there is no use in going on. */
  readonly lost: AbortSignal
  /** It has gone by: what was acknowledged before it is in the snapshot of the rows, too. */
  readonly moment: Date
}

async function dump(deps: DumpDeps, id: string): Promise<Manifest> {
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

/** A statement that nobody answers is not waited for. */
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
