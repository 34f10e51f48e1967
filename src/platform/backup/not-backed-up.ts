import { type TableName, tableName } from '#platform/postgres/catalogue.ts'

/** Tables whose rows are no part of a backup, and why. All others are, with every column that the database does not compute. */
export const NOT_BACKED_UP: ReadonlyMap<string, string> = new Map([
  ['public.schema_migration', 'those that the restored database has'],
  ['public.backup_hold', 'backups that are being made'],
  ['public.backup_kept_object', 'backups that are being made'],
  ['pgboss.version', 'that of the queue that the restored database has'],
])

export const isLeftOut = (table: TableName): boolean => NOT_BACKED_UP.has(tableName(table))
