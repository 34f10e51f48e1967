import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { SetupError } from '#config/setup-error.ts'

import type { SqlClient, SqlRunner } from './client.ts'
import { ensureAppRole, grantToAppRole, selectAppRole } from './role.ts'

/** The key of the advisory lock: an arbitrary number, the same for every replica. */
const LOCK = 4_172_016_110

export interface Migration {
  readonly name: string
  readonly sql: string
  readonly sha256: string
}

/**
 * Brings the schema up to the migrations of `folder` and lets the app role use it. Each file is one transaction under
 * an advisory lock, so any number of replicas may do this at once. Gives the names that were applied now. With `only`, the schema
 * becomes that of an earlier version, which had these.
 */
export async function applyMigrations(
  sql: SqlClient,
  folder: string,
  only?: ReadonlySet<string>,
): Promise<string[]> {
  const migrations = await readMigrations(folder)
  await ensureAppRole(sql)
  const applied: string[] = []
  for (const migration of migrations) {
    if (only?.has(migration.name) === false) continue
    if (await applyMigration(sql, migration, migrations)) applied.push(migration.name)
  }
  if ((await selectAppRole(sql)) !== undefined) {
    await locked(sql, (tx) => grantToAppRole(tx, ['schema_migration']))
  }
  return applied
}

export async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8')
      return { name, sql: text, sha256: createHash('sha256').update(text).digest('hex') }
    }),
  )
}

/** False when another replica, or an earlier start, was here before. */
function applyMigration(
  sql: SqlClient,
  migration: Migration,
  known: readonly Migration[],
): Promise<boolean> {
  return locked(sql, async (tx) => {
    await tx`
      create table if not exists schema_migration (
        name       text        primary key,
        sha256     text        not null,
        applied_at timestamptz not null default now()
      )`
    const applied = await tx<{ name: string; sha256: string }[]>`
      select name, sha256 from schema_migration`
    checkHistory(applied, known)
    if (applied.some(({ name }) => name === migration.name)) return false

    await tx.unsafe(migration.sql).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new SetupError(`The migration "${migration.name}" failed and left nothing: ${reason}`, {
        cause,
      })
    })
    await tx`
      insert into schema_migration (name, sha256) values (${migration.name}, ${migration.sha256})`
    return true
  })
}

function checkHistory(
  applied: readonly { name: string; sha256: string }[],
  known: readonly Migration[],
): void {
  for (const { name, sha256 } of applied) {
    const migration = known.find((candidate) => candidate.name === name)
    if (!migration) {
      throw new SetupError(
        `The database has the migration "${name}", which this version of Croft does not know: a newer one has used it. Start that version, or a newer one; ` +
          'to go back, put back the backup from before the upgrade',
      )
    }
    if (migration.sha256 !== sha256) {
      throw new SetupError(
        `The migration "${name}" was changed after this database applied it: the database is of a build between two versions, or the file was edited. ` +
          'Start the build that made it, put back a backup of a version, or restore the file and put the change into a new migration',
      )
    }
  }
}

/** Holds the lock for a whole start, so that what is not ours to put into one transaction runs alone too. `owner` has one connection. */
export async function withMigrationLock<T>(owner: SqlClient, work: () => Promise<T>): Promise<T> {
  await owner`select pg_advisory_lock(${LOCK})`
  try {
    return await work()
  } finally {
    await owner`select pg_advisory_unlock(${LOCK})`
  }
}

async function locked<T>(sql: SqlClient, work: (tx: SqlRunner) => Promise<T>): Promise<T> {
  const outcome = await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCK})`
    return { value: await work(tx) }
  })
  return outcome.value
}
