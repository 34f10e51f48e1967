import { AppError } from '#base/app-error.ts'

import type { ClientOptions } from './client.ts'
import { type Session, PooledConnection, type PooledResult } from './pooled-connection.ts'

const WAIT_MS = 10_000

export interface AcquiredConnection extends Session {
  release(): void
}

interface Waiter {
  take(connection: PooledConnection): void
  fail(error: Error): void
}

/** At most `max` connections, opened when needed. Whoever finds none free waits in line, ten seconds at most. */
export class ConnectionPool {
  readonly #options: ClientOptions
  readonly #all = new Set<PooledConnection>()
  /** The one used last is used next, so that few stay busy. */
  readonly #idle: PooledConnection[] = []
  readonly #waiters = new Set<Waiter>()
  #closed = false

  constructor(options: ClientOptions) {
    this.#options = options
  }

  async acquire(): Promise<AcquiredConnection> {
    const connection = this.#free() ?? (await this.#wait())
    return { ...connection.session(), release: () => this.#release(connection) }
  }

  /** One statement that is a transaction of its own. It has been committed when this resolves. */
  async run(text: string, parameters: readonly unknown[]): Promise<PooledResult> {
    const connection = this.#free() ?? (await this.#wait())
    try {
      return await connection.run(text, parameters)
    } finally {
      this.#release(connection)
    }
  }

  /** Waits for statements that run, not for transactions that stand open: let those finish before. */
  async close(): Promise<void> {
    this.#closed = true
    for (const waiter of this.#waiters) waiter.fail(new Error('The database is closed'))
    await Promise.all([...this.#all].map((connection) => connection.close()))
  }

  #free(): PooledConnection | undefined {
    return this.#idle.pop() ?? this.#open()
  }

  #open(): PooledConnection | undefined {
    if (this.#closed) throw new Error('The database is closed')
    if (this.#all.size >= this.#options.max) return undefined
    const connection = new PooledConnection(this.#options)
    this.#all.add(connection)
    return connection
  }

  #release(connection: PooledConnection): void {
    if (this.#closed) return
    const next = connection.mustBeReplaced ? this.#replace(connection) : connection
    const [waiter] = this.#waiters
    if (waiter) waiter.take(next)
    else this.#idle.push(next)
  }

  #replace(connection: PooledConnection): PooledConnection {
    this.#all.delete(connection)
    const fresh = new PooledConnection(this.#options)
    this.#all.add(fresh)
    // It has nothing to do any more; a fault while it says goodbye concerns nobody.
    connection.close().catch(() => {})
    return fresh
  }

  #wait(): Promise<PooledConnection> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        this.#waiters.delete(waiter)
      }
      const waiter: Waiter = {
        take(connection) {
          end()
          resolve(connection)
        },
        fail(error) {
          end()
          reject(error)
        },
      }
      const timer = setTimeout(() => waiter.fail(busy()), WAIT_MS)
      this.#waiters.add(waiter)
    })
  }
}

const busy = (): AppError =>
  new AppError('ServiceUnavailable', 'The database is busy: try again', { retryAfterSeconds: 1 })
