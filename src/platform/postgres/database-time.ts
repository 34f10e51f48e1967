import { sql } from 'kysely'

import type { Tx } from './database.ts'

/** What time it is for all replicas: theirs may differ. */
export type DatabaseTime = (tx: Tx) => Promise<Date>

export const selectDatabaseTime: DatabaseTime = async ({ db }) => {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('The database did not tell the time')
  return row.now
}
