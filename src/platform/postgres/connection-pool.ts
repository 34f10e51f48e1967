import type { PostgresPool, PostgresPoolClient } from 'kysely'

import { AppError } from '#base/app-error.ts'
import { Limiter } from '#base/limiter.ts'

import type { AskText } from './backend-probe.ts'
import type { ClientOptions } from './client.ts'
import { type ConnectionWatch, type IdleConnections, databaseAway } from './connection-watch.ts'
import { PoolActivity, type PoolStatus } from './pool-activity.ts'
import { PooledConnection, type RunStatement } from './pooled-connection.ts'

const WAIT_MS = 10_000

/**
 * At most `max` connections, opened when needed. A caller that finds none free waits in line, ten seconds at most; while the
 * watch says that the database is away, callers fail at once.
 */
export class ConnectionPool implements PostgresPool, IdleConnections {
  /** Kysely would cancel statements with it, over a connection beside the pool: nothing here does. */
  readonly options = {}
  readonly #options: ClientOptions
  readonly #limiter: Limiter
  readonly #watch: ConnectionWatch
  readonly #activity = new PoolActivity()
  #isClosed = false
  /** Sends those away who wait in line. */
  #waiting = new AbortController()
  readonly #all = new Set<PooledConnection>()
  /** The one used last is used next, so that few stay busy. */
  readonly #idle: PooledConnection[] = []

  constructor(options: ClientOptions, watch: ConnectionWatch) {
    this.#options = options
    this.#watch = watch
    watch.onAway(() => this.#refuseWaiting())
    watch.asksOver(this)
    this.#limiter = new Limiter({
      permits: options.max,
      maxWaitMs: WAIT_MS,
      refuse: ({ reason }) => (reason === 'aborted' ? this.#refusal() : this.#busy()),
    })
  }

  get status(): PoolStatus {
    return {
      max: this.#options.max,
      open: this.#all.size,
      busy: this.#limiter.held,
      waiting: this.#limiter.waiting,
      activity: this.#activity,
    }
  }

  async connect(): Promise<PostgresPoolClient> {
    const connection = await this.#take()
    const query = connection.session() as PostgresPoolClient['query']
    return { query, release: () => this.#release(connection) }
  }

  /** One statement that is a transaction of its own. It has been committed when this resolves. */
  readonly run: RunStatement = async (text, parameters) => {
    const connection = await this.#take()
    try {
      return await connection.run(text, parameters)
    } finally {
      this.#release(connection)
    }
  }

  lendIdle(): AskText | undefined {
    const connection = this.#idle.at(-1)
    if (this.#isClosed || connection === undefined || connection.mustBeReplaced) return undefined
    if (!this.#limiter.tryAcquire()) return undefined
    this.#idle.pop()
    return (text) => connection.ask(text).finally(() => this.#release(connection))
  }

  /** Waits for statements that run, not for open transactions: let those finish before. */
  async end(): Promise<void> {
    this.#isClosed = true
    this.#refuseWaiting()
    await Promise.all([...this.#all].map((connection) => connection.close()))
  }

  async #take(): Promise<PooledConnection> {
    if (this.#isClosed) throw closed()
    if (this.#watch.isAway) throw this.#away()
    if (!this.#limiter.tryAcquire()) await this.#wait()
    const connection = this.#idle.pop()
    if (connection === undefined) return this.#open()
    return connection.mustBeReplaced ? this.#replace(connection) : connection
  }

  async #wait(): Promise<void> {
    const startedAt = performance.now()
    try {
      await this.#limiter.acquire({ signal: this.#waiting.signal })
    } finally {
      this.#activity.waits.observe(performance.now() - startedAt)
    }
  }

  #refuseWaiting(): void {
    this.#waiting.abort()
    this.#waiting = new AbortController()
  }

  #refusal(): Error {
    return this.#isClosed ? closed() : this.#away()
  }

  #away(): AppError {
    this.#activity.failures.add('away')
    return databaseAway()
  }

  #busy(): AppError {
    this.#activity.failures.add('busy')
    return busy()
  }

  #open(): PooledConnection {
    const connection = new PooledConnection(this.#options, this.#activity)
    this.#all.add(connection)
    this.#watch.add(connection)
    return connection
  }

  #release(connection: PooledConnection): void {
    if (this.#isClosed) return
    this.#idle.push(connection.mustBeReplaced ? this.#replace(connection) : connection)
    this.#limiter.release()
  }

  #replace(connection: PooledConnection): PooledConnection {
    this.#all.delete(connection)
    this.#watch.delete(connection)
    // It has nothing to do any more; an error while it closes has no effect.
    connection.close().catch(() => {})
    return this.#open()
  }
}

const closed = (): Error => new Error('The database is closed')

const busy = (): AppError =>
  new AppError('ServiceUnavailable', 'The database is busy: try again', { retryAfterSeconds: 1 })
