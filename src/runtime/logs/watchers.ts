import { setTimeout } from 'node:timers/promises'

import { AppError } from '#base/app-error.ts'

const MAX_PER_SITE = 20

/** Those who follow a site's log in this process. */
export class LogWatchers {
  readonly #sites = new Map<string, Set<LogWatcher>>()
  readonly #closed = new AbortController()

  /** Until the signal, or until the watcher leaves by itself. */
  watch(siteId: string, signal: AbortSignal): LogWatcher {
    const watchers = this.#sites.get(siteId) ?? new Set()
    if (watchers.size >= MAX_PER_SITE) {
      throw new AppError(
        'TooManyRequests',
        `${MAX_PER_SITE} streams of this site's log are open already: close one`,
        { retryAfterSeconds: 10 },
      )
    }
    const watcher = new LogWatcher([signal, this.#closed.signal])
    this.#sites.set(siteId, watchers.add(watcher))
    const left = () => {
      watchers.delete(watcher)
      if (watchers.size === 0) this.#sites.delete(siteId)
    }
    watcher.signal.addEventListener('abort', left, { once: true })
    if (watcher.signal.aborted) left()
    return watcher
  }

  wake(siteId: string): void {
    for (const watcher of this.#sites.get(siteId) ?? []) watcher.wake()
  }

  wakeAll(): void {
    for (const siteId of this.#sites.keys()) this.wake(siteId)
  }

  close(): void {
    this.#closed.abort()
  }
}

/** Wakes one follower; a wake-up between `reset` and `wait` is not lost. */
export class LogWatcher {
  readonly signal: AbortSignal
  readonly #leaving = new AbortController()
  #bell = new AbortController()

  constructor(endings: readonly AbortSignal[]) {
    this.signal = AbortSignal.any([...endings, this.#leaving.signal])
  }

  leave(): void {
    this.#leaving.abort()
  }

  reset(): void {
    this.#bell = new AbortController()
  }

  wake(): void {
    this.#bell.abort()
  }

  /** Until there are lines, the time is over, or the signal ends it. */
  async wait(silenceMs: number): Promise<'lines' | 'silence' | 'ended'> {
    const signal = AbortSignal.any([this.signal, this.#bell.signal])
    return setTimeout(silenceMs, 'silence' as const, { signal }).catch(() =>
      this.signal.aborted ? 'ended' : 'lines',
    )
  }
}
