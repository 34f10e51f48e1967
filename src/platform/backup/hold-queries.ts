import type { SqlClient } from '#platform/postgres/client.ts'

/** Rows that are read at once. */
const PAGE = 1000

/** Announces a hold that begins later; gives when. */
export async function insertHold(
  sql: SqlClient,
  holdId: string,
  {
    beginsInMs,
    lifetimeSeconds,
  }: { readonly beginsInMs: number; readonly lifetimeSeconds: number },
): Promise<Date> {
  const [row] = await sql<{ startedAt: Date }[]>`
    insert into backup_hold (hold_id, started_at, expires_at)
    values (${holdId}, date_trunc('milliseconds', clock_timestamp()) + ${beginsInMs} * interval '1 millisecond',
      now() + ${lifetimeSeconds} * interval '1 second')
    returning started_at as "startedAt"`
  if (row === undefined) throw new Error('A hold was not stored')
  return row.startedAt
}

/** False when it has expired. */
export async function renewHold(
  sql: SqlClient,
  holdId: string,
  lifetimeSeconds: number,
): Promise<boolean> {
  const { count } = await sql`
    update backup_hold set expires_at = now() + ${lifetimeSeconds} * interval '1 second'
    where hold_id = ${holdId} and expires_at > now()`
  return count > 0
}

export async function selectExpiredHolds(sql: SqlClient): Promise<string[]> {
  const rows = await sql<{ holdId: string }[]>`
    select hold_id as "holdId" from backup_hold where expires_at <= now()`
  return rows.map(({ holdId }) => holdId)
}

export async function expireHold(sql: SqlClient, holdId: string): Promise<void> {
  await sql`update backup_hold set expires_at = '-infinity' where hold_id = ${holdId}`
}

export async function deleteHold(sql: SqlClient, holdId: string): Promise<void> {
  await sql`delete from backup_hold where hold_id = ${holdId}`
}

/** Keys of what is kept, in their order. */
export async function* selectKeptKeys(sql: SqlClient, holdId: string): AsyncGenerator<string> {
  for (let after = ''; ;) {
    const rows = await sql<{ key: string }[]>`
      select object_key as key from backup_kept_object
      where hold_id = ${holdId} and object_key > ${after} order by object_key limit ${PAGE}`
    for (const { key } of rows) yield key
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = last.key
  }
}
