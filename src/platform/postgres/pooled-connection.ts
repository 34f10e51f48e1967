import type { PostgresQueryResult } from 'kysely'

import { AppError } from '#base/app-error.ts'
import { hasCode } from '#base/error-code.ts'
import { diskFull } from '#platform/disk/disk-room.ts'

import { byteaList } from './array-types.ts'
import { type ClientOptions, type SqlClient, createClient, isAnswer } from './client.ts'
import type { StatementInFlight, WatchedConnection } from './connection-watch.ts'
import type { PoolActivity } from './pool-activity.ts'

/** The age at which a connection is replaced: the server's memory for it only grows. */
const MAX_AGE_MS = 45 * 60_000
const BEGIN = 'begin'
/** PostgreSQL's code for a disk without room. */
const DISK_FULL = '53100'

/** Runs one statement; `command` of its result is the tag: `INSERT`, `COMMIT`, … */
export type RunStatement = <Row>(
  text: string,
  parameters: readonly unknown[],
) => Promise<PostgresQueryResult<Row>>

/**
 * One connection of the pool: a client of its own, because only a client's `onclose` tells at once that a connection is
 * gone. postgres.js would open the next one silently, and a half-finished transaction would go on outside of any.
 */
export class PooledConnection implements WatchedConnection {
  readonly inFlight = new Set<StatementInFlight>()
  readonly #client: SqlClient
  readonly #activity: PoolActivity
  readonly #openedAt = performance.now()
  readonly #beginWith: string | undefined
  #hasBegun = false
  #lastPid: number | undefined
  #answeredMs = -Infinity
  #losses = 0
  #dying = false
  #givenUp: (() => Error) | undefined

  constructor(
    options: Omit<ClientOptions, 'max' | 'onClose' | 'maxLifetimeSeconds'>,
    activity: PoolActivity,
  ) {
    this.#activity = activity
    this.#beginWith = options.beginWith
    this.#client = createClient({
      ...options,
      max: 1,
      // The driver would also end a connection in the middle of a transaction.
      maxLifetimeSeconds: null,
      onClose: () => {
        this.#losses += 1
        this.#hasBegun = false
      },
    })
  }

  /** True when it is old, or when the server ended the session: the next user gets another connection. */
  get mustBeReplaced(): boolean {
    return this.#dying || performance.now() - this.#openedAt > MAX_AGE_MS
  }

  get lastPid(): number | undefined {
    return this.#lastPid
  }

  get answeredMs(): number {
    return this.#answeredMs
  }

  /**
   * For one borrower: its statements all run in the same session, or fail. `begin` goes with the statement that follows it,
   * in one write: each would cost a round trip.
   */
  session(): RunStatement {
    const losses = this.#losses
    let begun: Promise<unknown> | undefined
    return async <Row>(text: string, parameters: readonly unknown[]) => {
      if (!this.#dying && this.#losses === losses) {
        if (text === BEGIN) {
          begun = this.run(text, parameters)
          // Its error is that of the next statement.
          begun.catch(() => {})
          // Kysely reads nothing of it, and has no word for the command.
          return { rows: [], rowCount: 0, command: 'SELECT' }
        }
        const [before, after] = [begun, this.run<Row>(text, parameters)]
        begun = undefined
        await Promise.all([before, after])
        return after
      }
      // What is lost, Postgres rolls back by itself.
      if (text === 'rollback') return { rows: [], rowCount: 0, command: 'ROLLBACK' }
      throw connectionLost()
    }
  }

  /** A statement that needs no session of its own: a caller that sends several takes a session. */
  readonly run: RunStatement = async (text, parameters) => {
    this.#begin()
    // Kysely gives what drivers take: text, numbers, dates, buffers and lists of them.
    const given = parameters.map(asGiven) as never[]
    const result = await this.#answerTo(this.#client.unsafe(text, given, { prepare: true }))
    const { command, count: rowCount } = result
    // The caller's words: Kysely's types come from the query that it compiled.
    return { rows: Array.from(result), rowCount, command } as PostgresQueryResult<never>
  }

  /** Several statements in one message, which are one transaction; gives the rows of the last. */
  async ask(text: string): Promise<readonly object[]> {
    this.#begin()
    return (await this.#answerTo(this.#client.unsafe<object[][]>(text))).at(-1) ?? []
  }

  async #answerTo<Result>(query: PromiseLike<Result> & object): Promise<Result> {
    const statement = new SentStatement(query)
    this.inFlight.add(statement)
    try {
      const result = await query
      this.#lastPid = statement.pid
      this.#answeredMs = performance.now()
      return result
    } catch (error) {
      if (isAnswer(error)) this.#answeredMs = performance.now()
      if (isDiskFull(error)) throw diskFull('The database', error)
      // Kysely adds to the stack, which the driver has made read-only.
      if (leavesSessionOpen(error)) throw Object.defineProperty(error, 'stack', { writable: true })
      this.#dying = true
      this.#activity.failures.add('lost')
      const cause = this.#givenUp?.() ?? error
      throw cause instanceof AppError ? cause : connectionLost(cause)
    } finally {
      this.inFlight.delete(statement)
      this.#activity.statements.observe(performance.now() - statement.sinceMs)
    }
  }

  /** Sent right before the first statement of each session. Where it fails, so does that one: the connection was lost. */
  #begin(): void {
    if (this.#hasBegun || this.#beginWith === undefined) return
    this.#hasBegun = true
    this.#client.unsafe(this.#beginWith).catch(() => {})
  }

  giveUp(cause: () => Error): void {
    this.#givenUp = cause
    this.#dying = true
    // The driver rejects what is in flight.
    this.#client.end({ timeout: 0 }).catch(() => {})
  }

  expire(): void {
    this.#dying = true
  }

  close(): Promise<void> {
    return this.#client.end({ timeout: 5 })
  }
}

/** The driver notes at a statement which server process it was sent to; its types do not say so. */
interface SentQuery {
  readonly state?: { readonly pid: number | null } | null
}

export class SentStatement implements StatementInFlight {
  readonly sinceMs = performance.now()
  leftAloneUntilMs = -Infinity
  readonly #query: SentQuery

  constructor(query: object) {
    this.#query = query
  }

  get pid(): number | undefined {
    return this.#query.state?.pid ?? undefined
  }
}

/** postgres.js takes a list of buffers for one buffer: as text Postgres reads it as what it is. */
const asGiven = (parameter: unknown): unknown =>
  Array.isArray(parameter) && parameter[0] instanceof Uint8Array ? byteaList(parameter) : parameter

/** Is true for an error that the server answered, unless it was FATAL or PANIC and ended the session. */
const leavesSessionOpen = (error: unknown): error is Error =>
  isAnswer(error) && error.severity === 'ERROR'

const isDiskFull = (error: unknown): boolean =>
  leavesSessionOpen(error) && hasCode(error, DISK_FULL)

const connectionLost = (cause?: unknown): AppError =>
  new AppError('ServiceUnavailable', 'The connection to the database was lost: try again', {
    cause,
    retryAfterSeconds: 1,
  })
