import { SetupError } from '#config/setup-error.ts'

/** A column as the database declares it. */
export interface CatalogueColumn {
  readonly name: string
  /** In the words of PostgreSQL, as `timestamp with time zone` or `text[]`. */
  readonly type: string
  readonly isNullable: boolean
  readonly hasDefault: boolean
  /** Computed from other columns. */
  readonly isGenerated: boolean
  /** The database numbers the rows. */
  readonly isIdentity: boolean
}

export interface TableName {
  readonly schema: string
  readonly name: string
}

export interface CatalogueTable extends TableName {
  /** Whether row-level security holds for its owner, too. */
  readonly isForced: boolean
  /** In their order in the table. */
  readonly columns: readonly CatalogueColumn[]
  /** The columns of its primary key, in their order. */
  readonly key: readonly string[]
}

/** A foreign key, by names with their schemas. */
export interface Reference {
  readonly from: string
  readonly to: string
}

export const tableName = ({ schema, name }: TableName): string => `${schema}.${name}`

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
