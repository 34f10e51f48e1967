import {
  AbortedTransactionError,
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'

import type { AcquiredConnection, ConnectionPool } from './connection-pool.ts'

const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

/** Kysely on our pool. Destroying Kysely closes the pool. */
export const poolDialect = (pool: ConnectionPool): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new PoolDriver(pool),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
})

class PoolDriver implements Driver {
  readonly #pool: ConnectionPool
  readonly #borrowed = new WeakMap<DatabaseConnection, AcquiredConnection>()

  constructor(pool: ConnectionPool) {
    this.#pool = pool
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const borrowed = await this.#pool.acquire()
    const connection = new PoolConnection(borrowed)
    this.#borrowed.set(connection, borrowed)
    return connection
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings) {
    const level = settings.isolationLevel ? ` isolation level ${settings.isolationLevel}` : ''
    const mode = settings.accessMode ? ` ${settings.accessMode}` : ''
    await connection.executeQuery(CompiledQuery.raw(`start transaction${level}${mode}`))
  }

  /** Postgres answers COMMIT with ROLLBACK when an earlier statement failed, and that must not pass for success. */
  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    const result = await this.#borrowed.get(connection)?.run('commit', [])
    if (result?.command !== 'COMMIT') throw new AbortedTransactionError()
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // What is lost, Postgres rolls back by itself.
    const borrowed = this.#borrowed.get(connection)
    if (borrowed && !borrowed.isLost()) await borrowed.run('rollback', [])
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    this.#borrowed.get(connection)?.release()
    this.#borrowed.delete(connection)
  }

  async destroy(): Promise<void> {
    await this.#pool.close()
  }
}

class PoolConnection implements DatabaseConnection {
  readonly #borrowed: AcquiredConnection

  constructor(borrowed: AcquiredConnection) {
    this.#borrowed = borrowed
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, command, count } = await this.#borrowed.run(sql, parameters)
    return {
      // The caller's words: Kysely's types come from the query that it compiled.
      rows: rows as Row[],
      ...(WRITES.has(command) && { numAffectedRows: BigInt(count) }),
    }
  }

  // oxlint-disable-next-line require-yield -- an interface of Kysely that nothing here uses
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Queries are not streamed: read a page at a time')
  }
}
