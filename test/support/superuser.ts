import { createClient } from '#platform/postgres/client.ts'

import type { Stack } from './stack.ts'

type Sql = ReturnType<typeof createClient>

/** Statements on a stack's database as the superuser, to which row-level security does not apply. */
export async function asSuperuser<Result>(
  { database }: Pick<Stack, 'database'>,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const sql = createClient({ url: database.url, max: 1 })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}
