import { sql } from 'kysely'

/** Sorts behind every other character. */
const LAST_CHARACTER = '\u{10ffff}'

/** For columns whose index is by bytes (`collate "C"`). */
export const isText = (column: string, text: string) =>
  sql<boolean>`${sql.ref(column)} collate "C" = ${text}`

/** A range, not a pattern: an index by bytes answers it under row-level security, and no character has a meaning. */
export const beginsWith = (column: string, prefix: string) =>
  sql<boolean>`(${sql.ref(column)} collate "C" >= ${prefix}
    and ${sql.ref(column)} collate "C" < ${prefix + LAST_CHARACTER})`
