import type { SqlRunner } from './client.ts'

/** A column as the database declares it. */
export interface CatalogueColumn {
  readonly name: string
  /** In the words of PostgreSQL, as `timestamp with time zone` or `text[]`. */
  readonly type: string
  readonly isNullable: boolean
  readonly hasDefault: boolean
  /** The database alone gives its values: it is generated, or an identity. */
  readonly isComputed: boolean
}

export interface CatalogueTable {
  readonly schema: string
  readonly name: string
  /** Whether row-level security holds for its owner, too. */
  readonly isForced: boolean
  /** In their order in the table. */
  readonly columns: readonly CatalogueColumn[]
}

/** Tables that hold rows, in the order of their names. Partitions are part of the table that they belong to. */
export async function selectCatalogue(
  sql: SqlRunner,
  schemas: readonly string[],
): Promise<CatalogueTable[]> {
  const tables = await sql<CatalogueTable[]>`
    select n.nspname as schema, c.relname as name, c.relforcerowsecurity as "isForced",
           json_agg(json_build_object(
             'name', a.attname,
             'type', format_type(a.atttypid, null),
             'isNullable', not a.attnotnull,
             'hasDefault', a.atthasdef or a.attidentity <> '',
             'isComputed', a.attgenerated <> '' or a.attidentity = 'a'
           ) order by a.attnum) as columns
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid
    where n.nspname in ${sql(schemas)}
      and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped
    group by n.nspname, c.relname, c.relforcerowsecurity
    order by n.nspname, c.relname`
  return [...tables]
}
