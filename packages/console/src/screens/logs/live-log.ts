import { type ReadonlySignal, signal } from '@preact/signals'

import { api } from '#app/api/api.ts'
import { type Problem, problemOf } from '#app/api/problem.ts'

import type { LogLine, LogQuery } from './log-filter.ts'
import { type LogStreamRequest, streamLog } from './log-stream.ts'

/** Older lines are dropped: an open screen takes no more memory after an hour than after a minute. */
export const MAX_LINES = 10_000
const PAGE = 100
/** Read at once, for the histogram to say something. */
const FIRST_PAGES = 5
const LONGEST_WAIT_MS = 30_000

/** ended: the service refuses the stream · off: the filter ends in the past, there is nothing to follow */
export type LogState = 'loading' | 'live' | 'reconnecting' | 'ended' | 'off'

interface LogPage {
  readonly items: readonly LogLine[]
  readonly nextToken: string | null
}

export interface LiveLogDeps {
  readonly list: (query: LogQuery, nextToken: string | undefined) => Promise<LogPage>
  readonly stream: (request: LogStreamRequest) => Promise<void>
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

const BROWSER: LiveLogDeps = {
  list: async (query, nextToken) =>
    api.get('/admin/data/logs', {
      query: { ...query, limit: PAGE, ...(nextToken !== undefined && { nextToken }) },
    }),
  stream: streamLog,
  wait: (ms, stop) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      stop.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
    }),
}

/** The lines of a filter: what is written already, then what is written from now on. Between both no line is lost. */
export class LiveLog {
  readonly #deps: LiveLogDeps
  readonly #query: LogQuery
  readonly #stop = new AbortController()
  readonly #lines = signal<readonly LogLine[]>([])
  readonly #held = signal<readonly LogLine[]>([])
  readonly #state = signal<LogState>('loading')
  readonly #problem = signal<Problem | undefined>(undefined)
  readonly #isPaused = signal(false)
  readonly #isLoadingOlder = signal(false)
  readonly #nextToken = signal<string | null>(null)
  readonly #hasDropped = signal(false)
  #lastId = '0'

  /** Newest first. */
  readonly lines: ReadonlySignal<readonly LogLine[]> = this.#lines
  /** What arrived since the pause, newest first. */
  readonly held: ReadonlySignal<readonly LogLine[]> = this.#held
  readonly state: ReadonlySignal<LogState> = this.#state
  readonly problem: ReadonlySignal<Problem | undefined> = this.#problem
  readonly isPaused: ReadonlySignal<boolean> = this.#isPaused
  readonly isLoadingOlder: ReadonlySignal<boolean> = this.#isLoadingOlder
  /** Whether lines were dropped because there are too many. */
  readonly hasDropped: ReadonlySignal<boolean> = this.#hasDropped

  constructor(query: LogQuery, deps: LiveLogDeps = BROWSER) {
    this.#query = query
    this.#deps = deps
  }

  get hasOlder(): boolean {
    return this.#nextToken.value !== null && !this.#hasDropped.value
  }

  /** Resolves when it is stopped, or there is nothing more to come. */
  async run(): Promise<void> {
    this.#state.value = 'loading'
    this.#problem.value = undefined
    try {
      const page = await this.#deps.list(this.#query, undefined)
      if (this.#stop.signal.aborted) return
      this.#lines.value = page.items
      this.#nextToken.value = page.nextToken
      this.#lastId = page.items[0]?.logId ?? '0'
    } catch (error) {
      this.#end(error)
      return
    }
    await Promise.all([this.#loadFirst(), this.#followOn()])
  }

  stop(): void {
    this.#stop.abort()
  }

  pause(): void {
    this.#isPaused.value = true
  }

  resume(): void {
    this.#isPaused.value = false
    const held = this.#held.peek()
    this.#held.value = []
    this.#add(held)
  }

  async loadOlder(): Promise<void> {
    const token = this.#nextToken.peek()
    if (token === null || this.#isLoadingOlder.peek() || this.#hasDropped.peek()) return
    this.#isLoadingOlder.value = true
    try {
      const { items, nextToken } = await this.#deps.list(this.#query, token)
      this.#nextToken.value = nextToken
      this.#keep([...this.#lines.peek(), ...items])
    } catch (error) {
      this.#problem.value = problemOf(error)
    } finally {
      this.#isLoadingOlder.value = false
    }
  }

  async #loadFirst(): Promise<void> {
    for (let page = 1; page < FIRST_PAGES && !this.#stop.signal.aborted; page++) {
      if (this.#nextToken.peek() === null) return
      await this.loadOlder()
    }
  }

  async #followOn(): Promise<void> {
    if (this.#query.until !== undefined) {
      this.#state.value = 'off'
      return
    }
    const { signal: stopped } = this.#stop
    let failures = 0
    while (!stopped.aborted) {
      try {
        await this.#deps.stream({
          query: this.#query,
          after: this.#lastId,
          signal: stopped,
          onOpen: () => {
            failures = 0
            this.#state.value = 'live'
          },
          onLines: (lines) => this.#receive(lines),
        })
      } catch (error) {
        if (stopped.aborted) return
        if (isRefusal(problemOf(error))) {
          this.#end(error)
          return
        }
      }
      if (stopped.aborted) return
      this.#state.value = 'reconnecting'
      await this.#deps.wait(Math.min(LONGEST_WAIT_MS, 1000 * 2 ** failures++), stopped)
    }
  }

  #receive(lines: readonly LogLine[]): void {
    this.#lastId = lines.at(-1)?.logId ?? this.#lastId
    const newest = lines.toReversed()
    if (this.#isPaused.peek()) {
      this.#held.value = [...newest, ...this.#held.peek()].slice(0, MAX_LINES)
    } else this.#add(newest)
  }

  #add(newest: readonly LogLine[]): void {
    if (newest.length > 0) this.#keep([...newest, ...this.#lines.peek()])
  }

  #keep(lines: readonly LogLine[]): void {
    if (lines.length > MAX_LINES) this.#hasDropped.value = true
    this.#lines.value = lines.slice(0, MAX_LINES)
  }

  #end(error: unknown): void {
    if (this.#stop.signal.aborted) return
    this.#problem.value = problemOf(error)
    this.#state.value = 'ended'
  }
}

/** Whether the same request gets the same response again. */
const isRefusal = ({ code, status }: Problem): boolean =>
  code === 'SessionEnded' || (status >= 400 && status < 500 && status !== 408 && status !== 429)
