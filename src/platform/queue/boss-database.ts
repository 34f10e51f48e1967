import { CompiledQuery } from 'kysely'
import type { Db } from 'pg-boss'

import type { SqlClient, SqlRunner } from '#platform/postgres/client.ts'
import type { Tx } from '#platform/postgres/database.ts'

/** pg-boss on a pool. It sends whole transactions as one text, so each text gets a connection to itself. */
export const bossOnPool = (sql: SqlClient): Db => ({
  async executeSql(text, values) {
    const connection = await sql.reserve()
    try {
      return await run(connection, text, values)
    } finally {
      connection.release()
    }
  },
})

/** pg-boss inside a caller's transaction. */
export const bossInTransaction = (tx: Tx): Db => ({
  async executeSql(text, values) {
    const { rows } = await tx.db.executeQuery(CompiledQuery.raw(text, [...(values ?? [])]))
    return { rows }
  },
})

async function run(sql: SqlRunner, text: string, values: unknown[] = []) {
  // pg-boss gives what drivers take: text, numbers, dates and lists of them.
  const result: unknown[] = await sql.unsafe(text, values as never[])
  // Several statements give one list of rows each.
  return { rows: result.every(Array.isArray) ? result.flat() : [...result] }
}
