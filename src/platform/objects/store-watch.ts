import { AppError } from '#base/app-error.ts'
import type { Logger } from '#platform/log/logger.ts'

const LOOK_MS = 200
/** What has no answer after this is looked into. With the time of a probe it makes less than four seconds. */
const STALLED_MS = 1000
/** How long the rest is left alone once the store has answered a probe. */
const ALIVE_MS = 5000
/** How long a probe may take. */
const PROBE_MS = 2000
const PROBE_PAUSE_MS = 500

export interface StoreWatchDeps {
  /** Asks over a connection of its own, so that what has become of the others has no part in it. Rejects where nobody is able to answer. */
  readonly probe: (signal: AbortSignal) => Promise<unknown>
  readonly log: Pick<Logger, 'error' | 'info'>
}

/** How long something may go on without progress. */
export interface Patience {
  readonly limitMs: number
  /** A number that changes with every progress; the answer is the only one when left out. */
  readonly progress?: () => number
}

/**
 * Finds out what a connection cannot tell: that nobody answers at its other end. What has waited for a second makes it ask
 * once more, beside. Where that is not answered either, the store is away: what waits for it fails, and so does at once what comes next,
 * until it answers. Where it is, what waits has until its own limit.
 */
export class StoreWatch implements Disposable {
  readonly #deps: StoreWatchDeps
  readonly #waiting = new Set<Waiting>()
  readonly #timer: NodeJS.Timeout
  #lookedMs = performance.now()
  #isSuspected = false
  #isProbing = false
  #probedMs = 0
  #awaySinceMs: number | undefined

  constructor(deps: StoreWatchDeps) {
    this.#deps = deps
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
    this.#timer.unref()
  }

  /** Throws 503 `ServiceUnavailable` while nobody answers. */
  check(): void {
    if (this.#awaySinceMs !== undefined) throw storeAway()
  }

  /** Somebody was told nothing: whether the store is away is found out at once. */
  suspect(): void {
    this.#isSuspected = true
    if (this.#awaySinceMs === undefined) void this.#probe()
  }

  /**
   * What `work` comes to. Rejects with a `TimeoutError` when it has passed its limit, and with 503 `ServiceUnavailable` when the store is away; the
   * signal tells it so.
   */
  async during<Answer>(
    work: (signal: AbortSignal) => Promise<Answer>,
    patience: Patience,
  ): Promise<Answer> {
    const waiting = new Waiting(patience)
    this.#waiting.add(waiting)
    try {
      return await Promise.race([work(waiting.signal), waiting.givenUp])
    } finally {
      this.#waiting.delete(waiting)
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    for (const waiting of this.#waiting) waiting.giveUp(storeAway())
  }

  #look(): void {
    const nowMs = performance.now()
    const wasBusy = nowMs - this.#lookedMs > 4 * LOOK_MS
    this.#lookedMs = nowMs
    // Answers may have come that this process had no time to read.
    if (wasBusy) return
    let isStalled = this.#isSuspected
    for (const waiting of this.#waiting) {
      if (waiting.look(nowMs)) isStalled = true
    }
    const isAway = this.#awaySinceMs !== undefined
    if (isAway) this.#giveUpStalled(nowMs)
    const isPaused = nowMs - this.#probedMs < PROBE_PAUSE_MS
    if ((isAway || isStalled) && !isPaused) void this.#probe()
  }

  async #probe(): Promise<void> {
    if (this.#isProbing) return
    this.#isProbing = true
    this.#isSuspected = false
    const startedMs = performance.now()
    try {
      await answerInTime(this.#deps.probe)
      this.#answered()
    } catch (error) {
      // Its answer may have waited for this process.
      if (performance.now() - startedMs < PROBE_MS + 4 * LOOK_MS) this.#silent(error)
    } finally {
      this.#isProbing = false
      this.#probedMs = performance.now()
    }
  }

  #silent(error: unknown): void {
    if (this.#awaySinceMs === undefined) {
      this.#awaySinceMs = performance.now()
      this.#deps.log.error({ err: error }, 'the object store does not answer')
    }
    this.#giveUpStalled(performance.now())
  }

  #answered(): void {
    const nowMs = performance.now()
    for (const waiting of this.#waiting) waiting.aliveMs = nowMs
    if (this.#awaySinceMs === undefined) return
    const awayMs = Math.round(nowMs - this.#awaySinceMs)
    this.#awaySinceMs = undefined
    this.#deps.log.info({ awayMs }, 'the object store answers again')
  }

  #giveUpStalled(nowMs: number): void {
    for (const waiting of this.#waiting) {
      if (nowMs - waiting.sinceMs > STALLED_MS) waiting.giveUp(storeAway())
    }
  }
}

/** Something without an answer. */
class Waiting {
  readonly givenUp: Promise<never>
  sinceMs = performance.now()
  /** When the store last answered a probe meanwhile. */
  aliveMs = -Infinity
  readonly #patience: Patience
  readonly #abort = new AbortController()
  readonly #reject: (error: Error) => void
  #progress = 0

  constructor(patience: Patience) {
    this.#patience = patience
    const { promise, reject } = Promise.withResolvers<never>()
    this.givenUp = promise
    this.#reject = reject
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Whether it is so long without progress that it should be looked into. */
  look(nowMs: number): boolean {
    const progress = this.#patience.progress?.() ?? 0
    if (progress !== this.#progress) this.sinceMs = nowMs
    this.#progress = progress
    const waitedMs = nowMs - this.sinceMs
    const { limitMs } = this.#patience
    if (waitedMs > limitMs) this.giveUp(tookTooLong(limitMs))
    return waitedMs > STALLED_MS && nowMs - this.aliveMs > ALIVE_MS
  }

  giveUp(cause: Error): void {
    this.#reject(cause)
    this.#abort.abort(cause)
  }
}

async function answerInTime(probe: StoreWatchDeps['probe']): Promise<void> {
  const stop = new AbortController()
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    late.reject(tookTooLong(PROBE_MS))
    stop.abort()
  }, PROBE_MS)
  try {
    await Promise.race([probe(stop.signal), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

const storeAway = (): AppError =>
  new AppError('ServiceUnavailable', 'The object store does not answer: try again', {
    retryAfterSeconds: 2,
    isLogged: true,
  })

const tookTooLong = (limitMs: number): Error =>
  Object.assign(new Error(`No answer from the object store within ${limitMs} ms`), {
    name: 'TimeoutError',
  })
