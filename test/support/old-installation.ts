import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

import { installRoot } from '#config/install-root.ts'
import { migrateDatabase } from '#platform/migrate-database.ts'
import { type SqlRunner, createClient } from '#platform/postgres/client.ts'
import { startEmbeddedPostgres } from '#platform/postgres/embedded/embedded-postgres.ts'

import { silentLog } from './silent-log.ts'

const FOLDER = join(import.meta.dirname, '../boot/installations')

/** What a data folder held. */
export interface Installation {
  /** Names of the files that its database had applied. */
  readonly migrations: readonly string[]
  /** By table, each row as JSON text. */
  readonly tables: Readonly<Record<string, readonly string[]>>
  /** By path in the data folder, in base64. */
  readonly files: Readonly<Record<string, string>>
}

/** Makes the data folder of an earlier build again, as that build left it when it was stopped. */
export async function putBack(name: string, dataDir: string): Promise<Installation> {
  const packed = gunzipSync(await readFile(join(FOLDER, `${name}.json.gz`)))
  const installation = JSON.parse(packed.toString()) as Installation
  for (const [path, content] of Object.entries(installation.files)) {
    const file = join(dataDir, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, Buffer.from(content, 'base64'), { mode: 0o600 })
  }
  await chmod(dataDir, 0o711)
  await inDatabaseOf(dataDir, async (url) => {
    await migrate(url, installation.migrations)
    await fill(url, installation.tables)
  })
  return installation
}

/** Starts the database of a data folder whose service is stopped, for as long as the work takes. */
export async function inDatabaseOf(
  dataDir: string,
  work: (url: string) => Promise<void>,
): Promise<void> {
  await using postgres = await startEmbeddedPostgres({ dataDir, log: silentLog })
  await work(postgres.url)
}

/** With the files that its build had, and no later one. */
async function migrate(url: string, names: readonly string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-migrations-'))
  try {
    for (const name of names) {
      await copyFile(join(installRoot(), 'migrations', name), join(folder, name))
    }
    await migrateDatabase({ url, folder, log: silentLog })
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function fill(url: string, tables: Installation['tables']): Promise<void> {
  const sql = createClient({ url, max: 1 })
  try {
    await sql.begin(async (tx) => {
      // Rows come in any order, and no trigger makes others of them.
      await tx`set local session_replication_role = replica`
      for (const [table, rows] of Object.entries(tables)) await fillTable(tx, table, rows)
    })
  } finally {
    await sql.end()
  }
}

async function fillTable(tx: SqlRunner, table: string, rows: readonly string[]): Promise<void> {
  const columns = await tx<{ name: string; identity: boolean }[]>`
    select column_name as name, is_identity = 'YES' as identity from information_schema.columns
    where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER'`
  const names = columns.map(({ name }) => `"${name}"`).join(', ')
  await tx.unsafe(
    `insert into "${table}" (${names}) overriding system value
     select ${names} from jsonb_populate_recordset(null::"${table}", $1::text::jsonb) on conflict do nothing`,
    [`[${rows.join(',')}]`],
  )
  for (const { name } of columns.filter(({ identity }) => identity)) {
    await tx.unsafe(
      `select setval(pg_get_serial_sequence('"${table}"', '${name}'), max("${name}")) from "${table}"`,
    )
  }
}
