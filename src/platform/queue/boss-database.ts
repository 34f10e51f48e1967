import { CompiledQuery } from 'kysely'
import type { Db } from 'pg-boss'

import type { SqlClient } from '#platform/postgres/client.ts'
import type { Tx } from '#platform/postgres/database.ts'

/** `begin; …; commit;` as one text. */
const TRANSACTION = /^\s*begin;(.*)commit;?\s*$/is

/** pg-boss on our connections. Postgres runs one text of several statements as one transaction, without the words for it. */
export const bossOnStatements = (
  run: (text: string, values: readonly unknown[]) => Promise<{ readonly rows: readonly unknown[] }>,
): Db => ({
  async executeSql(text, values = []) {
    const { rows } = await run(TRANSACTION.exec(text)?.[1] ?? text, values)
    // Several statements give one list of rows each.
    return { rows: rows.every(Array.isArray) ? rows.flat() : [...rows] }
  },
})

/** pg-boss on a client, which takes what it gives: text, numbers, dates and lists of them. */
export const bossOnClient = (sql: SqlClient): Db =>
  bossOnStatements(async (text, values) => ({ rows: await sql.unsafe(text, values as never[]) }))

/** pg-boss inside a caller's transaction. */
export const bossInTransaction = (tx: Tx): Db => ({
  async executeSql(text, values) {
    const { rows } = await tx.db.executeQuery(CompiledQuery.raw(text, [...(values ?? [])]))
    return { rows }
  },
})
