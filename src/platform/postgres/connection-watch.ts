import { AppError } from '#base/app-error.ts'
import type { Logger } from '#platform/log/logger.ts'

import { type BackendProbe, type Backends, PROBE_MS } from './backend-probe.ts'

const LOOK_MS = 200
/** A statement that has no answer after this is looked into. With the time of a probe it makes less than three seconds. */
const STALLED_MS = 600
/** How long a statement that the server works on is left alone. */
const AT_WORK_MS = 5000
/** What the server is given to say itself that a statement took too long. */
const GRACE_MS = 3000

/** A statement without an answer. */
export interface StatementInFlight {
  readonly sinceMs: number
  /** The server's process that works on it; undefined while there is no connection. */
  readonly pid: number | undefined
  /** When the server last said that it works on it; -Infinity for never. */
  atWorkMs: number
}

export interface WatchedConnection {
  readonly inFlight: Iterable<StatementInFlight>
  /** Of its last statement that was answered. */
  readonly lastPid: number | undefined
  /** Ends the connection at once. Each of its statements fails with an error of its own: those who catch it may write into it. */
  giveUp(cause: () => Error): void
  /** Its server does not know it any more. Nobody is using it. */
  expire(): void
}

export interface ConnectionWatchDeps {
  readonly probe: BackendProbe
  readonly log: Logger
  readonly statementTimeoutMs: number
  /** Whether the server's processes can be told by the ids that connections are given: not behind a pooler. */
  readonly knowsBackends: boolean
}

/**
 * Finds out what a connection cannot tell: that nobody answers at its other end. A statement without an answer for 600 ms makes it
 * ask over a new connection. Where nobody answers that either, the database is away: what waits for it fails, and so does at
 * once what comes next, until somebody answers. Where somebody does, connections go that the server does not know: the address
 * may lead to another server by now.
 */
export class ConnectionWatch implements Disposable {
  readonly #deps: ConnectionWatchDeps
  readonly #connections = new Set<WatchedConnection>()
  readonly #refusals = new Set<() => void>()
  readonly #timer: NodeJS.Timeout
  #lookedMs = performance.now()
  #isProbing = false
  #awaySinceMs: number | undefined

  constructor(deps: ConnectionWatchDeps) {
    this.#deps = deps
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
    this.#timer.unref()
  }

  /** Whether nobody answers: whoever would ask is told so with `databaseAway`. */
  get isAway(): boolean {
    return this.#awaySinceMs !== undefined
  }

  /** `refuse` runs when the database is found to be away. */
  onAway(refuse: () => void): void {
    this.#refusals.add(refuse)
  }

  add(connection: WatchedConnection): void {
    this.#connections.add(connection)
  }

  delete(connection: WatchedConnection): void {
    this.#connections.delete(connection)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const nowMs = performance.now()
    const wasBusy = nowMs - this.#lookedMs > 4 * LOOK_MS
    this.#lookedMs = nowMs
    // Answers may have come that this process had no time to read.
    if (wasBusy) return
    const { statementTimeoutMs } = this.#deps
    this.#giveUp(nowMs - statementTimeoutMs - GRACE_MS, () => overdue(statementTimeoutMs))
    if (this.#awaySinceMs !== undefined) this.#giveUp(nowMs - STALLED_MS, databaseAway)
    if (this.#awaySinceMs !== undefined || this.#isStalled(nowMs)) void this.#probe()
  }

  #isStalled(nowMs: number): boolean {
    return [...this.#connections].some(({ inFlight }) =>
      [...inFlight].some(
        ({ sinceMs, atWorkMs }) => nowMs - sinceMs > STALLED_MS && nowMs - atWorkMs > AT_WORK_MS,
      ),
    )
  }

  async #probe(): Promise<void> {
    if (this.#isProbing) return
    this.#isProbing = true
    const startedMs = performance.now()
    const asked = this.#pids()
    try {
      this.#answered(await this.#deps.probe([...asked]), asked, startedMs)
    } catch (error) {
      // Its answer may have waited for this process.
      if (performance.now() - startedMs < PROBE_MS + 4 * LOOK_MS) this.#silent(error)
    } finally {
      this.#isProbing = false
    }
  }

  #pids(): Set<number> {
    const pids = new Set<number>()
    for (const { inFlight, lastPid } of this.#connections) {
      if (lastPid !== undefined) pids.add(lastPid)
      for (const { pid } of inFlight) if (pid !== undefined) pids.add(pid)
    }
    return pids
  }

  #silent(error: unknown): void {
    const nowMs = performance.now()
    if (this.#awaySinceMs === undefined) {
      this.#awaySinceMs = nowMs
      this.#deps.log.error({ err: error }, 'the database does not answer')
      for (const refuse of this.#refusals) refuse()
    }
    this.#giveUp(nowMs - STALLED_MS, databaseAway)
  }

  #answered(backends: Backends, asked: ReadonlySet<number>, startedMs: number): void {
    if (this.#awaySinceMs !== undefined) {
      const awayMs = Math.round(performance.now() - this.#awaySinceMs)
      this.#awaySinceMs = undefined
      this.#deps.log.info({ awayMs }, 'the database answers again')
    }
    if (backends === undefined || !this.#deps.knowsBackends) return
    for (const connection of this.#connections) {
      const [statement] = connection.inFlight
      if (statement === undefined) {
        const { lastPid } = connection
        if (lastPid !== undefined && asked.has(lastPid) && !backends.has(lastPid))
          connection.expire()
      } else if (statement.sinceMs < startedMs - STALLED_MS) {
        this.#judge(connection, statement, backends)
      }
    }
  }

  #judge(connection: WatchedConnection, statement: StatementInFlight, backends: Backends): void {
    const { pid } = statement
    const backend = pid === undefined ? undefined : backends?.get(pid)
    // A server that waits for a statement has answered the last one: the answer did not come.
    if (backend && (backend.waitsMs === null || backend.waitsMs < STALLED_MS)) {
      statement.atWorkMs = performance.now()
      return
    }
    const ms = Math.round(performance.now() - statement.sinceMs)
    this.#deps.log.warn({ pid, ms }, 'a connection to the database went silent and was given up')
    connection.giveUp(silentConnection)
  }

  #giveUp(before: number, cause: () => Error): void {
    for (const connection of this.#connections) {
      const [statement] = connection.inFlight
      if (statement !== undefined && statement.sinceMs < before) connection.giveUp(cause)
    }
  }
}

export const databaseAway = (): AppError =>
  new AppError('ServiceUnavailable', 'The database does not answer: try again', {
    retryAfterSeconds: 2,
    isLogged: true,
  })

const silentConnection = (): Error =>
  new Error('The connection went silent: the server does not know it, or its answer got lost')

const overdue = (timeoutMs: number): Error =>
  new Error(`No answer within the ${timeoutMs} ms that a statement may take`)
