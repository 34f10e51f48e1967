import { SetupError } from '#config/setup-error.ts'

/** What the installation that a backup is restored into has of its own. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'public.schema_migration',
  'public.backup_hold',
  'public.backup_kept_object',
  'pgboss.version',
])

export interface TableName {
  readonly schema: string
  readonly name: string
}

export interface CatalogTable extends TableName {
  /** Those that are written: what the database computes is computed again. */
  readonly columns: readonly string[]
  readonly isForced: boolean
}

export interface Reference {
  readonly from: string
  readonly to: string
}

export const tableName = ({ schema, name }: TableName): string => `${schema}.${name}`

/** Whether its rows are no part of a backup. */
export const isLeftOut = (table: TableName): boolean => LEFT_OUT.has(tableName(table))

/** Puts each table behind those that it refers to; itself does not count. */
export function inOrder<Table extends TableName>(
  tables: readonly Table[],
  references: readonly Reference[],
): Table[] {
  const ordered: Table[] = []
  const waiting = new Map(tables.map((table) => [tableName(table), table]))
  while (waiting.size > 0) {
    const ready = [...waiting].filter(([name]) =>
      references.every(({ from, to }) => from !== name || to === name || !waiting.has(to)),
    )
    if (ready.length === 0) {
      throw new SetupError(
        `Tables refer to each other in a ring: ${[...waiting.keys()].join(', ')}`,
      )
    }
    for (const [name, table] of ready) {
      ordered.push(table)
      waiting.delete(name)
    }
  }
  return ordered
}
