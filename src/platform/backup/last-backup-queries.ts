import type { SqlClient } from '#platform/postgres/client.ts'
import type { RunStatement } from '#platform/postgres/pooled-connection.ts'

const FACT = 'last-backup'

/** Notes that there is a backup of all that was acknowledged before `moment`. */
export async function upsertLastBackup(
  sql: SqlClient,
  backup: { readonly id: string; readonly moment: string },
): Promise<void> {
  const { id, moment } = backup
  const value = JSON.stringify({ id, moment })
  await sql`
    insert into instance (name, value) values (${FACT}, ${value})
    on conflict (name) do update set value = excluded.value`
}

/** Undefined before the first backup. */
export async function selectLastBackup(run: RunStatement): Promise<Date | undefined> {
  const { rows } = await run<{ moment: string }>(
    "select value ->> 'moment' as moment from instance where name = $1",
    [FACT],
  )
  const moment = rows[0]?.moment
  return moment === undefined ? undefined : new Date(moment)
}
