import type { ArchivedTable } from './archived-table.ts'
import { DEFINITION_TABLES } from './definition-tables.ts'
import { KEY_TABLES } from './key-tables.ts'
import { MAIL_TABLES } from './mail-tables.ts'
import { USER_TABLES } from './user-tables.ts'

/** Every row that an archive has, in an order in which each finds what it refers to. */
export const ARCHIVED_TABLES: readonly ArchivedTable[] = [
  ...DEFINITION_TABLES,
  ...USER_TABLES,
  ...KEY_TABLES,
  ...MAIL_TABLES,
]
