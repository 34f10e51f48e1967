import { setTimeout as delay } from 'node:timers/promises'

import { AppError } from '#base/app-error.ts'
import type { Logger } from '#platform/log/logger.ts'
import { type SilenceLimit, SchedulingDelay } from '#platform/scheduling-delay.ts'

import {
  type AskText,
  type Backend,
  type BackendProbe,
  type Backends,
  selectBackends,
} from './backend-probe.ts'

const LOOK_MS = 200
/** A statement that has no answer after this is looked into. With the time of a probe it makes less than three seconds. */
const STALLED = { calmMs: 600, steps: 4 }
/** What an idle connection of ours is given to answer before a new one is asked, too. */
const IDLE_ANSWERS = { calmMs: 300, steps: 4 }
/** How long a new connection and its one statement may take: some ten questions and answers, each of which wakes two processes. */
const PROBE = { calmMs: 1500, steps: 40 }
/** How long a statement that the server works on is left alone. */
const AT_WORK_MS = 5000
/** What the server is given to say itself that a statement took too long. */
const GRACE = { calmMs: 3000, steps: 40 }
/** A statement that its server process has not taken up after this, and so many times what an answer takes now, is lost. */
const LOST = { calmMs: 1000, steps: 20 }
const ANSWER_TIMES = 4

/** A statement without an answer. */
export interface StatementInFlight {
  readonly sinceMs: number
  /** The server's process that works on it; undefined while there is no connection. */
  readonly pid: number | undefined
  /** Until then it is not looked into. */
  leftAloneUntilMs: number
}

export interface WatchedConnection {
  readonly inFlight: Iterable<StatementInFlight>
  /** Of its last statement that was answered. */
  readonly lastPid: number | undefined
  /** When the server last said anything on it; -Infinity for never. */
  readonly answeredMs: number
  /** Ends the connection at once. Each of its statements fails with an error of its own: those who catch it may write into it. */
  giveUp(cause: () => Error): void
  /** Its server does not know it any more. It is idle. */
  expire(): void
}

/** Has connections that are idle at times. */
export interface IdleConnections {
  /** One of them, for one question, after which it is given back; undefined when there is none. */
  lendIdle(): AskText | undefined
}

/**
 * Detects what a connection cannot: that the other end does not answer. A statement without an answer for 600 ms makes it ask
 * over an idle connection, and over a new one where that stays silent. While any connection answers, the database lives, and
 * connections go that the server does not know: the address may lead to another server by now. Where none does, the database is
 * away: what waits for it fails, and so does at once what comes next, until one answers. A machine on which timers run late gets
 * more time for all of it.
 */
export class ConnectionWatch implements Disposable {
  readonly #deps
  readonly #connections = new Set<WatchedConnection>()
  readonly #refusals = new Set<() => void>()
  readonly #idle = new Set<IdleConnections>()
  readonly #timer: NodeJS.Timeout
  readonly #delay = new SchedulingDelay(LOOK_MS)
  #probing: Probing | undefined
  #answeredMs = -Infinity
  #awaySinceMs: number | undefined

  constructor(deps: {
    readonly probe: BackendProbe
    readonly log: Logger
    readonly statementTimeoutMs: number
    /** Whether connections are given the ids of the server's processes: not behind a pooler. */
    readonly knowsBackends: boolean
  }) {
    this.#deps = deps
    this.#timer = setInterval(() => this.#look(performance.now()), LOOK_MS)
    this.#timer.unref()
  }

  /** Whether the database does not answer: statements then fail with `databaseAway`. */
  get isAway(): boolean {
    return this.#awaySinceMs !== undefined
  }

  /** `refuse` runs when the database is found to be away. */
  onAway(refuse: () => void): void {
    this.#refusals.add(refuse)
  }

  asksOver(idle: IdleConnections): void {
    this.#idle.add(idle)
  }

  add(connection: WatchedConnection): void {
    this.#connections.add(connection)
  }

  delete(connection: WatchedConnection): void {
    this.#connections.delete(connection)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#probing?.stop.abort(noAnswer())
  }

  #look(nowMs: number): void {
    this.#delay.tick(nowMs)
    const { statementTimeoutMs } = this.#deps
    this.#giveUp(nowMs - statementTimeoutMs - this.#ms(GRACE), () => overdue(statementTimeoutMs))
    if (this.#awaySinceMs !== undefined) {
      if (this.#heardSince(this.#awaySinceMs)) this.#back()
      else this.#giveUp(nowMs - this.#ms(STALLED), databaseAway)
    }
    if (this.#probing !== undefined) {
      if (nowMs - this.#probing.startedMs > this.#ms(PROBE)) this.#probing.stop.abort(noAnswer())
    } else if (this.#awaySinceMs !== undefined || this.#isStalled(nowMs)) {
      void this.#probe(nowMs)
    }
  }

  #ms(patience: SilenceLimit): number {
    return this.#delay.patienceMs(patience)
  }

  /** Whether any connection was answered then or later. */
  #heardSince(ms: number): boolean {
    for (const { answeredMs } of this.#connections) {
      this.#answeredMs = Math.max(this.#answeredMs, answeredMs)
    }
    return this.#answeredMs >= ms
  }

  #isStalled(nowMs: number): boolean {
    const beforeMs = nowMs - this.#ms(STALLED)
    return this.#stalled(beforeMs).some((statement) => statement.leftAloneUntilMs < nowMs)
  }

  #stalled(beforeMs: number): StatementInFlight[] {
    return [...this.#connections].flatMap(({ inFlight }) =>
      [...inFlight].filter(({ sinceMs }) => sinceMs < beforeMs),
    )
  }

  async #probe(startedMs: number): Promise<void> {
    const stop = new AbortController()
    this.#probing = { startedMs, stop }
    const asked = this.#pids()
    try {
      this.#answered(await this.#ask([...asked], stop.signal), asked, startedMs)
    } catch (error) {
      this.#unanswered(error, startedMs)
    } finally {
      this.#probing = undefined
      stop.abort(noAnswer())
    }
  }

  async #ask(pids: readonly number[], signal: AbortSignal): Promise<Backends> {
    const overIdle = this.#askIdle(pids)
    if (overIdle === undefined) return this.#deps.probe(pids, signal)
    // A question over an idle connection that has lost its other end has no answer: `stopped` ends the wait for it.
    const stopped = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => stopped.reject(signal.reason), { once: true })
    const overNew = delay(this.#ms(IDLE_ANSWERS), undefined, { signal }).then(() =>
      this.#deps.probe(pids, signal),
    )
    return Promise.race([Promise.any([overIdle, overNew]), stopped.promise])
  }

  #askIdle(pids: readonly number[]): Promise<Backends> | undefined {
    for (const connections of this.#idle) {
      const ask = connections.lendIdle()
      if (ask !== undefined) return selectBackends(ask, pids)
    }
    return undefined
  }

  #pids(): Set<number> {
    const pids = new Set<number>()
    for (const { inFlight, lastPid } of this.#connections) {
      if (lastPid !== undefined) pids.add(lastPid)
      for (const { pid } of inFlight) if (pid !== undefined) pids.add(pid)
    }
    return pids
  }

  #unanswered(error: unknown, startedMs: number): void {
    const nowMs = performance.now()
    const stalledBeforeMs = nowMs - this.#ms(STALLED)
    if (this.#heardSince(Math.min(startedMs, stalledBeforeMs))) {
      for (const statement of this.#stalled(stalledBeforeMs)) {
        statement.leftAloneUntilMs = nowMs + AT_WORK_MS
      }
      return
    }
    if (this.#awaySinceMs === undefined) {
      this.#awaySinceMs = nowMs
      this.#deps.log.error({ err: error }, 'the database does not answer')
      for (const refuse of this.#refusals) refuse()
    }
    this.#giveUp(stalledBeforeMs, databaseAway)
  }

  #answered(backends: Backends, asked: ReadonlySet<number>, startedMs: number): void {
    if (this.#awaySinceMs !== undefined) this.#back()
    if (backends === undefined || !this.#deps.knowsBackends) return
    const tookMs = performance.now() - startedMs
    const stalledBeforeMs = startedMs - this.#ms(STALLED)
    const isGone = (pid = 0): boolean => asked.has(pid) && !backends.has(pid)
    for (const connection of this.#connections) {
      const [statement] = connection.inFlight
      if (statement === undefined) {
        if (isGone(connection.lastPid)) connection.expire()
      } else if (isGone(statement.pid)) {
        this.#silent(connection, statement)
      } else if (statement.sinceMs < stalledBeforeMs) {
        this.#judge(connection, statement, { backends, tookMs })
      }
    }
  }

  #back(): void {
    const awayMs = Math.round(performance.now() - (this.#awaySinceMs ?? 0))
    this.#awaySinceMs = undefined
    this.#deps.log.info({ awayMs }, 'the database answers again')
  }

  #judge(
    connection: WatchedConnection,
    statement: StatementInFlight,
    { backends, tookMs }: { backends: ReadonlyMap<number, Backend>; tookMs: number },
  ): void {
    const { pid, sinceMs } = statement
    const backend = pid === undefined ? undefined : backends.get(pid)
    const nowMs = performance.now()
    if (backend === undefined) {
      // The connection is being opened, or was when the server was asked about those there were.
      statement.leftAloneUntilMs = pid === undefined ? sinceMs + this.#ms(PROBE) : nowMs + LOOK_MS
    } else if (backend.waitsMs === null) {
      statement.leftAloneUntilMs = nowMs + AT_WORK_MS
    } else {
      // A server that waits for a statement has answered the last one: that answer did not come, or this statement did not.
      const lostAfterMs = this.#ms(LOST) + ANSWER_TIMES * tookMs
      const untakenMs = Math.min(backend.waitsMs, nowMs - sinceMs)
      statement.leftAloneUntilMs = nowMs + lostAfterMs - untakenMs
    }
    if (statement.leftAloneUntilMs <= nowMs) this.#silent(connection, statement)
  }

  #silent(connection: WatchedConnection, { pid, sinceMs }: StatementInFlight): void {
    const ms = Math.round(performance.now() - sinceMs)
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

interface Probing {
  readonly startedMs: number
  readonly stop: AbortController
}

export const databaseAway = (): AppError =>
  new AppError('ServiceUnavailable', 'The database does not answer: try again', {
    retryAfterSeconds: 2,
    isLogged: true,
  })

const noAnswer = (): AppError =>
  new AppError('ServiceUnavailable', 'The database did not answer on any connection')

const silentConnection = (): Error =>
  new Error('The connection went silent: the server does not know it, or its answer got lost')

const overdue = (timeoutMs: number): Error =>
  new Error(`No answer within the ${timeoutMs} ms that a statement may take`)
