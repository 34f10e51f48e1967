import { CompiledQuery, sql } from 'kysely'

import {
  type RunText,
  selectCatalogue,
  selectDefaults,
  selectReferences,
} from '#platform/postgres/catalogue-queries.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import type { MissingSecret } from './archive-format.ts'
import {
  type CataloguedTable,
  type TravellingColumn,
  cataloguedTables,
} from './catalogued-tables.ts'
import { ARCHIVED_TABLES } from './site-tables.ts'

/** Rows that come in one round trip: each may be as long as an item. */
const FETCHED_AT_ONCE = 100

/** The tables of an archive as this database has them, in an order in which each row finds what it refers to. */
export async function selectCataloguedTables(tx: SiteTx): Promise<readonly CataloguedTable[]> {
  const run: RunText = async <Row>(text: string, parameters: readonly string[]) =>
    (await tx.db.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]))).rows
  const catalogue = await selectCatalogue(run, 'public')
  const references = await selectReferences(run)
  const found = await selectDefaults(run, 'public')
  const defaults = new Map(
    found.map(({ table, column, expression }) => [`${table}.${column}`, expression]),
  )
  return cataloguedTables(ARCHIVED_TABLES, catalogue, { references, defaults })
}

/** All rows of the site in the table, each as one line of JSON. */
export async function* selectArchivedRows(
  tx: SiteTx,
  { table, columns, orderBy, where, leaving = {} }: CataloguedTable,
): AsyncGenerator<readonly string[], void, undefined> {
  const fields = columns.map(({ name, type }) => {
    // An array has no JSON that a cast reads.
    const value = type.endsWith('[]') ? `${table}."${name}"::text` : `${table}."${name}"`
    return `'${name}', ${leaving[name] ?? value}`
  })
  const found = `select json_build_object(${fields.join(', ')})::text as line from ${table}
    where ${table}.site_id = current_setting('app.site_id')${where === undefined ? '' : ` and ${where}`}
    order by ${orderBy.map((name) => `${table}."${name}"`).join(', ')}`
  yield* fetchLines(tx, `archived_${table}`, found)
}

/** The lines of a statement without parameters, some at a time. */
async function* fetchLines(
  tx: SiteTx,
  cursor: string,
  select: string,
): AsyncGenerator<readonly string[], void, undefined> {
  const run = <Row>(text: string) => tx.db.executeQuery<Row>(CompiledQuery.raw(text))
  await run(`declare ${cursor} no scroll cursor for ${select}`)
  for (;;) {
    const { rows } = await run<{ line: string }>(`fetch ${FETCHED_AT_ONCE} from ${cursor}`)
    if (rows.length > 0) yield rows.map(({ line }) => line)
    if (rows.length < FETCHED_AT_ONCE) break
  }
  await run(`close ${cursor}`)
}

/**
 * Writes rows as `selectArchivedRows` gives them. `lines` are JSON already. What a line has beside the columns of the table is left
 * out; a column that a line lacks, as it does from an earlier version, gets its default.
 */
export async function insertArchivedRows(
  tx: SiteTx,
  { table, columns, arriving = {} }: CataloguedTable,
  lines: readonly string[],
): Promise<void> {
  const names = columns.map(({ name }) => `"${name}"`)
  const values = columns.map((column) => arriving[column.name] ?? arrivingValue(column))
  await tx.db.executeQuery(
    CompiledQuery.raw(
      `insert into ${table} (site_id, ${names.join(', ')})
       select $1, ${values.join(', ')}
       from jsonb_array_elements($2::text::jsonb) with ordinality as given (line, place)
       order by place`,
      [tx.siteId, `[${lines.join(',')}]`],
    ),
  )
}

function arrivingValue({ name, type, isNullable, defaultValue }: TravellingColumn): string {
  const value = type === 'jsonb' ? `line -> '${name}'` : `(line ->> '${name}')::${type}`
  // A JSON null that may be a null of the database is one.
  const read = type === 'jsonb' && isNullable ? `nullif(${value}, 'null')` : value
  if (defaultValue === undefined) return read
  return `case when line ? '${name}' then ${read} else ${defaultValue} end`
}

/** The secrets of a site that an archive without keys leaves behind, each to be set again where the site goes. */
export async function selectMissingSecrets(tx: SiteTx): Promise<MissingSecret[]> {
  const { rows } = await sql<MissingSecret>`
    select 'environment variable' as kind, name, 1 as place
    from env_var where site_id = ${tx.siteId} and secret
    union all
    select 'client secret of the provider', provider, 2
    from identity_provider where site_id = ${tx.siteId}
    union all
    select 'deploy token', name, 3
    from deploy_token
    where site_id = ${tx.siteId} and (expires_at is null or expires_at > now())
    union all
    select 'deploy webhook', 'of the repository', 4
    from deploy_webhook where site_id = ${tx.siteId}
    union all
    select 'DKIM key', 'croft' || number, 5
    from dkim_key where site_id = ${tx.siteId} and superseded_at is null
    order by place, name`.execute(tx.db)
  return rows.map(({ kind, name }) => ({ kind, name }))
}

/** Lets the transaction see the words of all messages: the policy of `mail_search` shows those that a query finds. */
export async function showAllWords(tx: SiteTx): Promise<void> {
  await sql`select set_config('app.mail_query', quote_literal(${tx.siteId}::text), true)`.execute(
    tx.db,
  )
}
