import type { DatabaseSchema } from '#platform/postgres/database-schema.ts'

import type { ArchivePart } from './archive-format.ts'

/** Tables whose rows each say of which site they are. */
type SiteTable = {
  [Name in keyof DatabaseSchema]: DatabaseSchema[Name] extends { site_id: string } ? Name : never
}[keyof DatabaseSchema]

interface SecretColumn {
  /** What it was sealed for, by the row that it is in. */
  context(row: Readonly<Record<string, unknown>>): string
  /** It is the hash of a password, which the site's key does not seal, and which names its own key on the way. */
  readonly isPasswordHash?: true
}

/** How the rows of a table travel: with every column that the database does not compute, except for these. */
interface Travelling<Column extends string> {
  readonly part: ArchivePart
  /** Rows are in the order of these; in that of the primary key when left out. */
  readonly orderBy?: readonly Column[]
  /** Columns that only the site may read: they leave sealed by a passphrase, but those of a definition. */
  readonly secrets?: Readonly<Partial<Record<Column, SecretColumn>>>
  /** Columns that could be secrets and are none, such as the hash of 256 random bits. */
  readonly open?: readonly Column[]
  /** Columns that stay behind, and why. */
  readonly stays?: Readonly<Partial<Record<Column, string>>>
  /** The part without which its rows would refer to nothing: then they stay behind. */
  readonly needs?: ArchivePart
  /** In the words of PostgreSQL, what leaves instead of a column, and what arrives: `line` is the row, `$1` the site's id. */
  readonly leaving?: Readonly<Partial<Record<Column, string>>>
  readonly arriving?: Readonly<Partial<Record<Column, string>>>
  /** Which rows, in the words of PostgreSQL. */
  readonly where?: string
}

type ColumnOf<Table extends SiteTable> = Exclude<keyof DatabaseSchema[Table] & string, 'site_id'>

/** Of each table how its rows travel, in one part or some in each of two, or why they stay. */
export type SiteTables = {
  readonly [Table in SiteTable]:
    | string
    | Travelling<ColumnOf<Table>>
    | readonly Travelling<ColumnOf<Table>>[]
}

export interface ArchivedTable extends Travelling<string> {
  readonly table: string
  readonly secrets?: Readonly<Record<string, SecretColumn>>
}

export function archivedTables(tables: SiteTables): readonly ArchivedTable[] {
  return Object.entries(tables).flatMap(([table, how]) =>
    (typeof how === 'string' ? [] : [how].flat()).map((travelling) => ({ table, ...travelling })),
  )
}
