import { atOnce } from '#base/at-once.ts'
import type { CatalogueTable } from '#platform/postgres/catalogue.ts'
import type { SqlRunner } from '#platform/postgres/client.ts'

import type { Chunks } from './chunks.ts'
import { type DatabaseFacts, selectDatabaseFacts } from './installation-queries.ts'
import type { DumpedTable } from './manifest.ts'
import { isLeftOut } from './not-backed-up.ts'
import type { BackupProgress } from './progress.ts'
import { rowChunks } from './row-chunks.ts'
import { selectTables } from './table-queries.ts'

/** Chunks of rows that are compressed and written at once: with the one that is being read at most 20 MiB of memory, and their compressed forms. */
const CHUNKS_AT_ONCE = 4

/** Begins to see the database as it is now; `tx` is a fresh transaction that is `repeatable read`. */
export async function takeSnapshot(tx: SqlRunner): Promise<DatabaseFacts> {
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
export async function dumpTables(
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
  for await (const { sha256, rows, bytes } of atOnce(rowChunks(text), CHUNKS_AT_ONCE, put)) {
    table.chunks.push(sha256)
    table.rows += rows
    table.bytes += bytes
    progress.count({ rows, rowBytes: bytes })
  }
  return { schema, name, columns: names, ...table }
}
