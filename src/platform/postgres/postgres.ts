import { Kysely, PostgresDialect } from 'kysely'

import type { Logger } from '#platform/log/logger.ts'

import { type SqlClient, createClient } from './client.ts'
import { ConnectionPool } from './connection-pool.ts'
import type { DatabaseSchema } from './database-schema.ts'
import { Database } from './database.ts'
import { PostgresNotifications } from './notifications.ts'
import { assertRowLevelSecurity, selectAppRole } from './role.ts'

const STATEMENT_TIMEOUT_MS = 60_000
/** Connections for transactions. */
const TRANSACTION_POOL = 16
/** Connections for single statements: the queue's and a few at start. */
const STATEMENT_POOL = 3

export interface PostgresPlatform extends AsyncDisposable {
  readonly database: Database
  readonly notifications: PostgresNotifications
  /**
   * As the app role, for single statements outside of any site: its `begin` and `reserve` do not survive the loss of a
   * connection (an exception that nobody can catch, and statements in somebody else's session).
   */
  readonly sql: SqlClient
}

export interface ConnectOptions {
  readonly url: string
  readonly log: Logger
  /** Connections for transactions; the queue and notifications use four more. */
  readonly poolSize?: number
}

/** Connects to a migrated database as a role that row-level security holds. */
export async function connectPostgres(options: ConnectOptions): Promise<PostgresPlatform> {
  const role = await findRole(options.url)
  const settings = { url: options.url, role, statementTimeoutMs: STATEMENT_TIMEOUT_MS }
  const sql = createClient({ ...settings, max: STATEMENT_POOL })
  try {
    await assertRowLevelSecurity(sql)
  } catch (error) {
    await sql.end({ timeout: 1 })
    throw error
  }
  const pool = new ConnectionPool({ ...settings, max: options.poolSize ?? TRANSACTION_POOL })
  const dialect = new PostgresDialect({ pool })
  const database = new Database(new Kysely<DatabaseSchema>({ dialect }), pool.run)
  const notifications = new PostgresNotifications({ url: options.url, role, log: options.log })
  return {
    database,
    notifications,
    sql,
    async [Symbol.asyncDispose]() {
      await notifications[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
      // Kysely leaves a pool alone that it has not used yet.
      await pool.end()
      await sql.end({ timeout: 5 })
    },
  }
}

async function findRole(url: string): Promise<string | undefined> {
  const asItself = createClient({ url, max: 1 })
  try {
    return await selectAppRole(asItself)
  } finally {
    await asItself.end({ timeout: 1 })
  }
}
