import { sql } from 'kysely'

import type { DatabaseSchema } from './database-schema.ts'
import type { SiteTx } from './database.ts'

/** A column that alone identifies rows of a site. */
interface NameColumn {
  readonly table: keyof DatabaseSchema
  readonly column: string
}

export interface Renaming {
  readonly from: string
  readonly to: string
}

/**
 * Gives the row of a site another name, in its key and wherever it is referred to; false when there is none. Statements that
 * refer to it wait, and then find none of that name. A reference that follows by itself (`on update cascade`) would do the same,
 * but not in a database that is distributed by site.
 */
export async function renameKey(
  tx: SiteTx,
  { table, column, referrers }: NameColumn & { readonly referrers: readonly NameColumn[] },
  { from, to }: Renaming,
): Promise<boolean> {
  const [rows, name] = [sql.table(table), sql.ref(column)]
  const old = sql`site_id = ${tx.siteId} and ${name} = ${from}`
  // The lock that a delete takes: a reference that is being made has been made before, or waits.
  const { rows: found } = await sql`select from ${rows} where ${old} for update`.execute(tx.db)
  if (found.length === 0) return false
  await sql`
    insert into ${rows}
    select (jsonb_populate_record(original, jsonb_build_object(${sql.lit(column)}, ${to}::text))).*
    from ${rows} original where ${old}`.execute(tx.db)
  for (const referrer of referrers) {
    await sql`
      update ${sql.table(referrer.table)} set ${sql.ref(referrer.column)} = ${to}
      where site_id = ${tx.siteId} and ${sql.ref(referrer.column)} = ${from}`.execute(tx.db)
  }
  await sql`delete from ${rows} where ${old}`.execute(tx.db)
  return true
}
