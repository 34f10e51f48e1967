import { Kysely, PostgresDialect } from 'kysely'

import type { Logger } from '#platform/log/logger.ts'

import { backendProbe } from './backend-probe.ts'
import { type SqlClient, createClient } from './client.ts'
import { ConnectionPool } from './connection-pool.ts'
import { ConnectionWatch } from './connection-watch.ts'
import type { DatabaseSchema } from './database-schema.ts'
import { Database } from './database.ts'
import { PostgresNotifications } from './notifications.ts'
import type { PoolStatus } from './pool-activity.ts'
import type { RunStatement } from './pooled-connection.ts'
import { newHolder, presenceOf } from './presence.ts'
import { assertRowLevelSecurity, selectAppRole } from './role.ts'

const STATEMENT_TIMEOUT_MS = 60_000
/** Connections for transactions. */
const TRANSACTION_POOL = 16
/** Connections for single statements of the queue, which must not wait for transactions that wait for it. */
const STATEMENT_POOL = 3
const START_IDLE_SECONDS = 5

interface PostgresStatus {
  /** Whether the database answers. */
  readonly isUp: boolean
  readonly pools: Readonly<Record<'transactions' | 'statements', PoolStatus>>
}

export interface PostgresPlatform extends AsyncDisposable {
  readonly database: Database
  readonly notifications: PostgresNotifications
  status(): PostgresStatus
  /** As the app role, for single statements outside of any site. */
  readonly statements: RunStatement
  /** The name of this process while sessions of `statements` live; undefined where a pooler keeps sessions for others. */
  readonly holder: number | undefined
  /** The same for a start, which may wait: its connection is not watched. It is closed while it is not used. */
  readonly sql: SqlClient
}

export interface ConnectOptions {
  readonly url: string
  readonly log: Logger
  /** Connections for transactions; the queue, notifications and a start use five more. */
  readonly poolSize?: number
}

/** Connects to a migrated database as a role that row-level security holds. */
export async function connectPostgres(options: ConnectOptions): Promise<PostgresPlatform> {
  const role = await findRole(options.url)
  const settings = { url: options.url, role, statementTimeoutMs: STATEMENT_TIMEOUT_MS }
  const sql = createClient({ ...settings, max: 1, idleTimeoutSeconds: START_IDLE_SECONDS })
  let knowsBackends: boolean
  try {
    await assertRowLevelSecurity(sql)
    knowsBackends = await isGivenServersPid(sql)
  } catch (error) {
    await sql.end({ timeout: 1 })
    throw error
  }
  const watch = new ConnectionWatch({
    probe: backendProbe(options.url),
    log: options.log,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    knowsBackends,
  })
  const pool = new ConnectionPool({ ...settings, max: options.poolSize ?? TRANSACTION_POOL }, watch)
  const holder = knowsBackends ? newHolder() : undefined
  const beginWith = holder === undefined ? undefined : presenceOf(holder)
  const statements = new ConnectionPool({ ...settings, beginWith, max: STATEMENT_POOL }, watch)
  const dialect = new PostgresDialect({ pool })
  const database = new Database(new Kysely<DatabaseSchema>({ dialect }), pool.run)
  const notifications = new PostgresNotifications({
    url: options.url,
    role,
    log: options.log,
    watch,
  })
  return {
    database,
    notifications,
    statements: statements.run,
    holder,
    status: () => ({
      isUp: !watch.isAway,
      pools: { transactions: pool.status, statements: statements.status },
    }),
    sql,
    async [Symbol.asyncDispose]() {
      await notifications[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
      // Kysely leaves a pool alone that it has not used yet.
      await Promise.all([pool.end(), statements.end(), sql.end({ timeout: 5 })])
      watch[Symbol.dispose]()
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

/** Whether a connection gets its server's own process id: a pooler between would give one of its own. */
async function isGivenServersPid(sql: SqlClient): Promise<boolean> {
  const { state, ...rows } = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  return rows[0]?.pid === state.pid
}
