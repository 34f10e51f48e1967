import type { SqlRunner } from '#platform/postgres/client.ts'

import type { DumpedSequence } from './manifest.ts'
import type { CatalogTable, Reference, TableName } from './table-catalog.ts'

/** The service's own, and the queue's. */
const SCHEMAS = ['public', 'pgboss'] as const

/** Tables that hold rows. Partitions are part of the table that they belong to. */
export async function selectTables(sql: SqlRunner): Promise<CatalogTable[]> {
  const tables = await sql<CatalogTable[]>`
    select n.nspname as schema, c.relname as name, c.relforcerowsecurity as "isForced",
           array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid
    where n.nspname in ${sql(SCHEMAS)}
      and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    group by n.nspname, c.relname, c.relforcerowsecurity
    order by n.nspname, c.relname`
  return [...tables]
}

/** Which tables refer to which, by foreign keys. */
export async function selectReferences(sql: SqlRunner): Promise<Reference[]> {
  return sql<Reference[]>`
    select n.nspname || '.' || c.relname as "from", fn.nspname || '.' || f.relname as "to"
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid
    join pg_namespace n on n.oid = c.relnamespace
    join pg_class f on f.oid = k.confrelid
    join pg_namespace fn on fn.oid = f.relnamespace
    where k.contype = 'f'`
}

/** Where each sequence is. It does not stand still for a transaction. */
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
