import type { SqlRunner } from '#platform/postgres/client.ts'

export interface ColumnCheck {
  readonly table: string
  readonly column: string
  /** As PostgreSQL prints it. */
  readonly expression: string
}

/** The checks of tables of the service that are about one column alone. */
export async function selectColumnChecks(sql: SqlRunner): Promise<ColumnCheck[]> {
  const checks = await sql<ColumnCheck[]>`
    select c.relname as table, a.attname as column, pg_get_expr(k.conbin, k.conrelid) as expression
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1]
    where k.contype = 'c' and c.relnamespace = 'public'::regnamespace and cardinality(k.conkey) = 1
    order by 1, 2, 3`
  return [...checks]
}
