import type { SqlClient, SqlRunner } from '#platform/postgres/client.ts'

/** What a backup says of the database that it is of. */
export interface DatabaseFacts {
  readonly lsn: string
  readonly postgres: string
  readonly migrations: readonly { readonly name: string; readonly sha256: string }[]
  readonly queueVersion: number
}

export async function selectClockTime(sql: SqlRunner): Promise<Date> {
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`
  if (row === undefined) throw new Error('The database does not tell the time')
  return row.now
}

export async function selectDatabaseFacts(tx: SqlRunner): Promise<DatabaseFacts> {
  const migrations = await tx<{ name: string; sha256: string }[]>`
    select name, sha256 from schema_migration order by name`
  const [facts] = await tx<Omit<DatabaseFacts, 'migrations'>[]>`
    select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end::text as lsn,
           current_setting('server_version') as postgres,
           (select version from pgboss.version) as "queueVersion"`
  if (facts === undefined) throw new Error('The database says nothing of itself')
  return { ...facts, migrations: [...migrations] }
}

/** Whether backups can be held: the schema is of this version, or a later one. */
export async function selectKnowsHolds(sql: SqlClient): Promise<boolean> {
  const [row] = await sql<{ is: boolean }[]>`select to_regclass('backup_hold') is not null as is`
  return row?.is === true
}

/** Connections of other processes of ours. */
export async function countOtherSessions(sql: SqlClient): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name = 'croft' and pid <> pg_backend_pid()`
  return row?.count ?? 0
}

export async function selectHasSchema(sql: SqlClient): Promise<boolean> {
  const [row] = await sql<{ is: boolean }[]>`select to_regclass('site') is not null as is`
  return row?.is === true
}

export async function countSites(sql: SqlRunner): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from site`
  return row?.count ?? 0
}

export async function selectQueueVersion(tx: SqlRunner): Promise<number> {
  const [row] = await tx<{ version: number }[]>`select version from pgboss.version`
  return row?.version ?? 0
}

/** Until the transaction ends no site can be created. */
export async function lockSites(tx: SqlRunner): Promise<void> {
  await tx`lock table site in access exclusive mode`
}

/** So that the first queries are planned for the rows that are there. */
export async function analyzeTables(sql: SqlClient): Promise<void> {
  await sql`analyze`
}
