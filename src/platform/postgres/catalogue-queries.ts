import type { CatalogueTable, Reference } from './catalogue.ts'
import type { SqlRunner } from './client.ts'

/** Runs a statement on whichever client there is. */
export type RunText = <Row>(text: string, parameters: readonly string[]) => Promise<readonly Row[]>

const TABLES = `
  select n.nspname as schema, c.relname as name, c.relforcerowsecurity as "isForced",
         json_agg(json_build_object(
           'name', a.attname,
           'type', format_type(a.atttypid, null),
           'isNullable', not a.attnotnull,
           'hasDefault', a.atthasdef and a.attgenerated = '',
           'isGenerated', a.attgenerated <> '',
           'isIdentity', a.attidentity <> ''
         ) order by a.attnum) as columns,
         coalesce((
           select json_agg(k.attname order by array_position(i.indkey::int[], k.attnum::int))
           from pg_index i
           join pg_attribute k on k.attrelid = i.indrelid and k.attnum = any(i.indkey)
           where i.indrelid = c.oid and i.indisprimary
         ), '[]') as key
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid
  where n.nspname = $1 and c.relkind in ('r', 'p') and not c.relispartition
    and a.attnum > 0 and not a.attisdropped
  group by n.nspname, c.relname, c.relforcerowsecurity, c.oid
  order by c.relname`

/** Tables of a schema that hold rows, by their names. Partitions are part of the table that they belong to. */
export const selectCatalogue = (run: RunText, schema: string): Promise<readonly CatalogueTable[]> =>
  run<CatalogueTable>(TABLES, [schema])

/** Which tables refer to which, by foreign keys. */
export const selectReferences = (run: RunText): Promise<readonly Reference[]> =>
  run<Reference>(
    `select n.nspname || '.' || c.relname as "from", fn.nspname || '.' || f.relname as "to"
     from pg_constraint k
     join pg_class c on c.oid = k.conrelid
     join pg_namespace n on n.oid = c.relnamespace
     join pg_class f on f.oid = k.confrelid
     join pg_namespace fn on fn.oid = f.relnamespace
     where k.contype = 'f'`,
    [],
  )

export const runOn =
  (sql: SqlRunner): RunText =>
  async <Row>(text: string, parameters: readonly string[]) => [
    ...(await sql.unsafe<Row[] & object[]>(text, [...parameters])),
  ]

export interface ColumnDefault {
  readonly table: string
  readonly column: string
  readonly expression: string
}

/** The defaults of columns. Waits for whichever transaction alters one of the tables. */
export const selectDefaults = (run: RunText, schema: string): Promise<readonly ColumnDefault[]> =>
  run<ColumnDefault>(
    `select c.relname as table, a.attname as column, pg_get_expr(d.adbin, d.adrelid) as expression
     from pg_attrdef d
     join pg_class c on c.oid = d.adrelid
     join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum = d.adnum
     where n.nspname = $1 and a.attgenerated = ''`,
    [schema],
  )
