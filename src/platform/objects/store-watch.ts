import { AppError } from '#base/app-error.ts'
import type { Logger } from '#platform/log/logger.ts'
import { SchedulingDelay, type SilenceLimit } from '#platform/scheduling-delay.ts'

const LOOK_MS = 200
/** What has no answer after this is looked into. With the time of a probe it makes less than four seconds. */
const STALLED: SilenceLimit = { calmMs: 1000, steps: 4 }
/** How long the rest is left alone once the store has answered a probe. */
const ALIVE_MS = 5000
/** How long a probe may take: a connection, its TLS and one request, each part of which wakes two processes. */
const PROBE: SilenceLimit = { calmMs: 1800, steps: 40 }
const PROBE_PAUSE_MS = 500

/** How long something may go on without progress. */
export interface Patience {
  readonly limitMs: number
  /** A number that changes with every progress; the answer is the only one when left out. */
  readonly progress?: () => number
}

/**
 * Detects what a connection cannot: that the other end does not answer. A request that has waited for a second makes it probe,
 * over another connection. Where neither that is answered nor anything else, the store is away: what waits for it fails, and so
 * does at once what comes next, until it answers. Where it is, what waits has until its own limit. A machine on which timers run
 * late gets more time.
 */
export class StoreWatch implements Disposable {
  readonly #deps
  readonly #waiting = new Set<Waiting>()
  readonly #timer: NodeJS.Timeout
  readonly #delay = new SchedulingDelay(LOOK_MS)
  #probing: { readonly startedMs: number; readonly stop: AbortController } | undefined
  #answeredMs = -Infinity
  #isSuspected = false
  #probedMs = 0
  #awaySinceMs: number | undefined

  constructor(deps: {
    /**
     * Asks over a connection of its own, so that what has become of the others has no part in it. Rejects where the store cannot
     * answer.
     */
    readonly probe: (signal: AbortSignal) => Promise<unknown>
    readonly log: Pick<Logger, 'error' | 'info'>
  }) {
    this.#deps = deps
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
    this.#timer.unref()
  }

  /** Throws 503 `ServiceUnavailable` while the store does not answer. */
  check(): void {
    if (this.#awaySinceMs !== undefined) throw storeAway()
  }

  /** A request got no response: finds out at once whether the store is away. */
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
      const answer = await Promise.race([work(waiting.signal), waiting.givenUp])
      this.#answeredMs = performance.now()
      return answer
    } finally {
      this.#waiting.delete(waiting)
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#probing?.stop.abort(noAnswer())
    for (const waiting of this.#waiting) waiting.giveUp(storeAway())
  }

  #look(): void {
    const nowMs = performance.now()
    this.#delay.tick(nowMs)
    let isStalled = this.#isSuspected
    const stalledMs = this.#delay.patienceMs(STALLED)
    for (const waiting of this.#waiting) {
      const hasMoved = waiting.look(nowMs)
      if (hasMoved) this.#answeredMs = nowMs
      if (waiting.isStalled(nowMs, stalledMs)) isStalled = true
    }
    const isAway = this.#awaySinceMs !== undefined
    if (isAway) this.#giveUpStalled(nowMs)
    if (this.#probing !== undefined) {
      const { startedMs, stop } = this.#probing
      if (nowMs - startedMs > this.#delay.patienceMs(PROBE)) stop.abort(noAnswer())
      return
    }
    const isPaused = nowMs - this.#probedMs < PROBE_PAUSE_MS
    if ((isAway || isStalled) && !isPaused) void this.#probe()
  }

  async #probe(): Promise<void> {
    if (this.#probing !== undefined) return
    const startedMs = performance.now()
    const stop = new AbortController()
    this.#probing = { startedMs, stop }
    this.#isSuspected = false
    try {
      await untilStopped(this.#deps.probe(stop.signal), stop.signal)
      this.#answered()
    } catch (error) {
      // Whatever else it has answered since, it lives.
      if (this.#answeredMs >= startedMs) this.#answered()
      else this.#silent(error)
    } finally {
      this.#probing = undefined
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
      if (nowMs - waiting.sinceMs > this.#delay.patienceMs(STALLED)) waiting.giveUp(storeAway())
    }
  }
}

/** Something without an answer. */
class Waiting {
  readonly givenUp: Promise<never>
  sinceMs = performance.now()
  /** When the store last answered a probe. */
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

  /** Whether there was progress since the last look. */
  look(nowMs: number): boolean {
    const progress = this.#patience.progress?.() ?? 0
    const hasMoved = progress !== this.#progress
    if (hasMoved) this.sinceMs = nowMs
    this.#progress = progress
    const { limitMs } = this.#patience
    if (nowMs - this.sinceMs > limitMs) this.giveUp(tookTooLong(limitMs))
    return hasMoved
  }

  /** Whether it is so long without progress that it should be looked into. */
  isStalled(nowMs: number, stalledMs: number): boolean {
    return nowMs - this.sinceMs > stalledMs && nowMs - this.aliveMs > ALIVE_MS
  }

  giveUp(cause: Error): void {
    this.#reject(cause)
    this.#abort.abort(cause)
  }
}

async function untilStopped(asking: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const stopped = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => stopped.reject(signal.reason), { once: true })
  await Promise.race([asking, stopped.promise])
}

const storeAway = (): AppError =>
  new AppError('ServiceUnavailable', 'The object store does not answer: try again', {
    retryAfterSeconds: 2,
    isLogged: true,
  })

const noAnswer = (): Error =>
  Object.assign(new Error('No answer from the object store'), { name: 'TimeoutError' })

const tookTooLong = (limitMs: number): Error =>
  Object.assign(new Error(`No answer from the object store within ${limitMs} ms`), {
    name: 'TimeoutError',
  })
