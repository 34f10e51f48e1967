import type { SqlClient, SqlRunner } from '#platform/postgres/client.ts'

const DIGITS = 6

/** Of the copies of a site: `many-1.test` and so on. */
export const domainOfCopy = (number: number): string => `many-${number}.test`

interface TenantTable {
  readonly name: string
  /** That a row is inserted with. */
  readonly columns: readonly string[]
}

/**
 * Copies all rows of a site under other ids and domains, as the superuser of its database: as many sites as would take days to make one by one.
 * What is sealed for a site opens in no copy.
 */
export async function copySite(sql: SqlClient, domain: string, count: number): Promise<void> {
  const [site] = await sql<
    { siteId: string }[]
  >`select site_id as "siteId" from site where domain = ${domain}`
  if (!site) throw new Error(`There is no site "${domain}"`)
  await sql.begin(async (tx) => {
    // Neither references nor triggers: rows come table by table.
    await tx`set local session_replication_role = replica`
    for (const table of await tenantTables(tx)) {
      const values = table.columns.map((column) => valueOf(table.name, column))
      const names = table.columns.map((column) => `"${column}"`)
      await tx.unsafe(
        `insert into "${table.name}" (${names.join(', ')})
         select ${values.join(', ')} from "${table.name}" original, generate_series(1, ${count}) copy
          where original.site_id = $1`,
        [site.siteId],
      )
    }
  })
  await sql`analyze`
}

function valueOf(table: string, column: string): string {
  if (column === 'site_id') {
    return `left(original.site_id, -${DIGITS}) || lpad(copy::text, ${DIGITS}, '0')`
  }
  if (table === 'site' && column === 'domain') return `'many-' || copy || '.test'`
  return `original."${column}"`
}

const tenantTables = (sql: SqlRunner): Promise<TenantTable[]> =>
  sql<TenantTable[]>`
    select class.relname as name,
           array_agg(attname::text order by attnum)
             filter (where attgenerated = '' and attidentity = '') as columns
      from pg_class class
      join pg_attribute on attrelid = class.oid and attnum > 0 and not attisdropped
     where class.relnamespace = 'public'::regnamespace and class.relkind in ('r', 'p') and not class.relispartition
     group by class.oid, class.relname
    having bool_or(attname = 'site_id')
     order by class.relname`
