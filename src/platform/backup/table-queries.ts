import { runOn, selectCatalogue } from '#platform/postgres/catalogue-queries.ts'
import type { CatalogueTable, TableName } from '#platform/postgres/catalogue.ts'
import type { SqlRunner } from '#platform/postgres/client.ts'

import type { DumpedSequence } from './manifest.ts'

/** The service's own, and the queue's. */
const SCHEMAS = ['pgboss', 'public'] as const

/** Tables that hold rows. */
export async function selectTables(sql: SqlRunner): Promise<CatalogueTable[]> {
  const run = runOn(sql)
  const tables: CatalogueTable[] = []
  for (const schema of SCHEMAS) tables.push(...(await selectCatalogue(run, schema)))
  return tables
}

/** Where each sequence is. It changes during a transaction, too. */
export async function selectSequences(sql: SqlRunner): Promise<DumpedSequence[]> {
  const sequences = await sql<TableName[]>`
    select schemaname as schema, sequencename as name from pg_sequences
    where schemaname in ${sql(SCHEMAS)} order by 1, 2`
  const found: DumpedSequence[] = []
  for (const { schema, name } of sequences) {
    const [state] = await sql<{ value: string; isCalled: boolean }[]>`
      select last_value::text as value, is_called as "isCalled" from ${sql(schema)}.${sql(name)}`
    if (state) found.push({ schema, name, ...state })
  }
  return found
}

export async function setSequence(
  sql: SqlRunner,
  { schema, name, value, isCalled }: DumpedSequence,
): Promise<void> {
  await sql`
    select setval(format('%I.%I', ${schema}::text, ${name}::text)::regclass, ${value}::bigint, ${isCalled}::boolean)`
}

export async function countRows(sql: SqlRunner, { schema, name }: TableName): Promise<number> {
  const [row] = await sql<{ rows: string }[]>`
    select count(*)::text as rows from ${sql(schema)}.${sql(name)}`
  return Number(row?.rows)
}
