import type { SqlClient } from '#platform/postgres/client.ts'

/** Replicas that start at once all come here; the first one's canary stays. `sealed` is base64. */
export async function insertCanary(sql: SqlClient, name: string, sealed: string): Promise<void> {
  const value = JSON.stringify({ sealed })
  await sql`insert into instance (name, value) values (${name}, ${value}) on conflict do nothing`
}

export async function selectCanary(sql: SqlClient, name: string): Promise<string | undefined> {
  const [row] = await sql<{ sealed: string }[]>`
    select value ->> 'sealed' as sealed from instance where name = ${name}`
  return row?.sealed
}
