import { once } from 'node:events'
import type { Writable } from 'node:stream'

import { SetupError } from '#config/setup-error.ts'
import { runOn, selectReferences } from '#platform/postgres/catalogue-queries.ts'
import { type CatalogueTable, inOrder, tableName } from '#platform/postgres/catalogue.ts'
import type { SqlRunner } from '#platform/postgres/client.ts'

import type { BackupPlace } from './backup-place.ts'
import { readChunk } from './chunks.ts'
import type { DumpedTable, Manifest } from './manifest.ts'
import { isLeftOut } from './not-backed-up.ts'
import type { BackupProgress } from './progress.ts'
import { countRows, selectTables, setSequence } from './table-queries.ts'

/**
 * Fills the tables of an empty installation with the rows of a backup; `tx` commits all of them, or none. The schema is that of the
 * backup.
 */
export async function loadTables(
  tx: SqlRunner,
  { place, manifest, progress }: LoadDeps,
): Promise<void> {
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

export interface LoadDeps {
  readonly place: BackupPlace
  readonly manifest: Manifest
  readonly progress: BackupProgress
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
  // When all rows were sent and are refused as a whole, the driver tells nobody, but the statement behind them fails.
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
