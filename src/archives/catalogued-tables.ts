import { type CatalogueTable, type Reference, inOrder } from '#platform/postgres/catalogue.ts'

import { ARCHIVE_PARTS } from './archive-format.ts'
import type { ArchivedTable } from './archived-table.ts'

export interface TravellingColumn {
  readonly name: string
  /** In the words of PostgreSQL. */
  readonly type: string
  readonly isNullable: boolean
  /** What a row gets that lacks it, in the words of PostgreSQL. */
  readonly defaultValue: string | undefined
}

/** A table of an archive with the columns that the database has. */
export interface CataloguedTable extends ArchivedTable {
  readonly columns: readonly TravellingColumn[]
  readonly orderBy: readonly string[]
}

/** By table and column, expressions of defaults. */
export type Defaults = ReadonlyMap<string, string>

/** In the order of the parts, and each behind those that it refers to. */
export function cataloguedTables(
  listed: readonly ArchivedTable[],
  catalogue: readonly CatalogueTable[],
  { references, defaults }: { references: readonly Reference[]; defaults: Defaults },
): CataloguedTable[] {
  return ARCHIVE_PARTS.flatMap((part) => {
    const tables = listed.filter((table) => table.part === part)
    const there = catalogue.filter(({ name }) => tables.some(({ table }) => table === name))
    return inOrder(there, references).flatMap((found) =>
      tables
        .filter(({ table }) => table === found.name)
        .map((table) => ({
          ...table,
          orderBy: table.orderBy ?? found.key,
          columns: travellingColumns(table, found, defaults),
        })),
    )
  })
}

const travellingColumns = (
  { table, stays = {} }: ArchivedTable,
  { columns }: CatalogueTable,
  defaults: Defaults,
): TravellingColumn[] =>
  columns
    .filter(
      ({ name, isGenerated, isIdentity }) =>
        !isGenerated && !isIdentity && name !== 'site_id' && stays[name] === undefined,
    )
    .map(({ name, type, isNullable }) => ({
      name,
      type,
      isNullable,
      defaultValue: defaults.get(`${table}.${name}`),
    }))
