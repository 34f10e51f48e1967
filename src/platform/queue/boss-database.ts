import { CompiledQuery } from 'kysely'
import type { Db } from 'pg-boss'

import type { SqlClient } from '#platform/postgres/client.ts'
import type { Tx } from '#platform/postgres/database.ts'

/** `begin; …; commit;` as one text. */
const TRANSACTION = /^\s*begin;(.*)commit;?\s*$/is

/** pg-boss on a client. Postgres runs one text of several statements as one transaction, without the words for it. */
export const bossOnClient = (sql: SqlClient): Db => ({
  async executeSql(text, values = []) {
    const statements = TRANSACTION.exec(text)?.[1] ?? text
    // pg-boss gives what drivers take: text, numbers, dates and lists of them.
    const result: unknown[] = await sql.unsafe(statements, values as never[])
    // Several statements give one list of rows each.
    return { rows: result.every(Array.isArray) ? result.flat() : [...result] }
  },
})

/** pg-boss inside a caller's transaction. */
export const bossInTransaction = (tx: Tx): Db => ({
  async executeSql(text, values) {
    const { rows } = await tx.db.executeQuery(CompiledQuery.raw(text, [...(values ?? [])]))
    return { rows }
  },
})
