import type { DatabaseSchema } from '#platform/postgres/database-schema.ts'

import type { ArchivePart } from './archive-format.ts'

/** As PostgreSQL names it. `jsonb?` may be null, and then no JSON null is told from it. */
type ColumnType =
  | 'bigint'
  | 'boolean'
  | 'bytea'
  | 'integer'
  | 'jsonb'
  | 'jsonb?'
  | 'text'
  | 'text[]'
  | 'timestamptz'
  | 'tsvector'

interface SecretColumn {
  /** What it was sealed for, by the row that it is in. */
  context(row: Readonly<Record<string, unknown>>): string
  /** It is the hash of a password, which the site's key does not seal, and which names its own key on the way. */
  readonly isPasswordHash?: true
}

type TableName = {
  [Name in keyof DatabaseSchema]: DatabaseSchema[Name] extends { site_id: string } ? Name : never
}[keyof DatabaseSchema]

export interface ArchivedTable {
  readonly table: TableName
  readonly part: ArchivePart
  /** Those that are exported. The site's id never is. */
  readonly columns: Readonly<Record<string, ColumnType>>
  /** Rows are in the order of these. */
  readonly orderBy: readonly string[]
  /** Columns that nobody may read who has the database: they leave sealed by a passphrase, but those of a definition. */
  readonly secrets?: Readonly<Record<string, SecretColumn>>
  /** The part without which its rows would refer to nothing: then they stay behind. */
  readonly needs?: ArchivePart
  /** In the words of PostgreSQL, what leaves instead of a column, and what arrives: `line` is the row, `$1` the site's id. */
  readonly leaving?: Readonly<Record<string, string>>
  readonly arriving?: Readonly<Record<string, string>>
  /** Which rows, in the words of PostgreSQL. */
  readonly where?: string
}

type Columns<Table extends TableName> = Partial<
  Record<Exclude<keyof DatabaseSchema[Table], 'site_id'>, ColumnType>
>

/** One table of an archive. The columns are those of its rows, checked by the compiler and, with their types, by a test. */
export function archived<Table extends TableName>(
  part: ArchivePart,
  table: Table,
  columns: Columns<Table>,
  rest: Pick<ArchivedTable, 'orderBy' | 'secrets' | 'needs' | 'leaving' | 'arriving' | 'where'>,
): ArchivedTable {
  return { part, table, columns: columns as ArchivedTable['columns'], ...rest }
}

export const CREATED = { created_at: 'timestamptz' } as const
export const CHANGED = { ...CREATED, updated_at: 'timestamptz' } as const
