import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'

import { runOn, selectCatalogue } from '#platform/postgres/catalogue-queries.ts'
import type { CatalogueColumn, CatalogueTable } from '#platform/postgres/catalogue.ts'
import type { SqlRunner } from '#platform/postgres/client.ts'

import { type ColumnCheck, selectColumnChecks } from './check-queries.ts'
import { TYPE_OVERRIDES } from './type-overrides.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** Of `npm run tools`. */
export const OXFMT = resolve(ROOT, 'node_modules/.bin/oxfmt')
/** Where the types of the tables are kept, from the repository's root. */
export const SCHEMA_FILE = 'src/platform/postgres/database-schema.ts'

const HEAD = `// Written by "npm run schema" from the migrated database: do not edit.

import type { Generated, GeneratedAlways } from 'kysely'

/** The schema of \`migrations/\`, as queries see it. A \`bigint\` is text; JSON is \`unknown\` until a model parses it. */
`

/** As the service's connections read and write them: see \`createClient\`. */
const TYPES: Readonly<Record<string, string>> = {
  bigint: 'string',
  boolean: 'boolean',
  bytea: 'Buffer',
  integer: 'number',
  jsonb: 'unknown',
  text: 'string',
  'timestamp with time zone': 'Date',
  tsvector: 'string',
}

/** The tables of a migrated database as TypeScript, in the format of the sources. */
export async function schemaSource(sql: SqlRunner): Promise<string> {
  const tables = await selectCatalogue(runOn(sql), 'public')
  const text = tablesSource(tables, await selectColumnChecks(sql), TYPE_OVERRIDES)
  const formatting = promisify(execFile)(OXFMT, [`--stdin-filepath=${SCHEMA_FILE}`], { cwd: ROOT })
  formatting.child.stdin?.end(text)
  return (await formatting).stdout
}

/** Not formatted. Rejects an override of a column that is not there, or whose type the catalogue tells. */
export function tablesSource(
  tables: readonly CatalogueTable[],
  checks: readonly ColumnCheck[],
  overrides: ReadonlyMap<string, string>,
): string {
  const types = new Map(overrides)
  const unions = unionsOf(checks)
  const entries = tables.map((table) => {
    const columns = table.columns.map((column) => {
      const place = `${table.name}.${column.name}`
      const override = types.get(place)
      types.delete(place)
      if (override !== undefined && unions.has(place)) throw stale(place)
      return `${column.name}: ${columnType(column, override ?? unions.get(place))}`
    })
    return `${table.name}: {\n${columns.join('\n')}\n}`
  })
  const [unused] = types.keys()
  if (unused !== undefined) throw stale(unused)
  return `${HEAD}export interface DatabaseSchema {\n${entries.join('\n')}\n}\n`
}

function columnType(
  { type, isNullable, hasDefault, isGenerated, isIdentity }: CatalogueColumn,
  known: string | undefined,
): string {
  const element = TYPES[type.replace(/\[\]$/, '')]
  if (element === undefined) throw new Error(`scripts/schema knows no type for "${type}"`)
  const value = known ?? (type.endsWith('[]') ? `${element}[]` : element)
  const selected = isNullable && value !== 'unknown' ? `${value} | null` : value
  if (isGenerated || isIdentity) return `GeneratedAlways<${selected}>`
  return hasDefault ? `Generated<${selected}>` : selected
}

/** By table and column, the texts that a check allows, in its order. */
function unionsOf(checks: readonly ColumnCheck[]): Map<string, string> {
  const unions = new Map<string, string>()
  for (const { table, column, expression } of checks) {
    const list =
      new RegExp(String.raw`^\(${column} = ANY \(ARRAY\[(.*)\]\)\)$`).exec(expression)?.[1] ??
      new RegExp(String.raw`^\(${column} = ('[^']*'::text)\)$`).exec(expression)?.[1]
    if (list === undefined) continue
    const texts = list.split(', ').map((text) => /^('[^'\\]*')::text$/.exec(text)?.[1])
    if (texts.every((text) => text !== undefined))
      unions.set(`${table}.${column}`, texts.join(' | '))
  }
  return unions
}

const stale = (place: string): Error =>
  new Error(`scripts/schema/type-overrides.ts has "${place}", which the catalogue tells or lacks`)
