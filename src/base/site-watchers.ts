import { setTimeout } from 'node:timers/promises'

import { AppError } from './app-error.ts'

const MAX_PER_SITE = 20
/** Stands for all that is followed. */
export const ANY_TOPIC = '*'

/** Those in this process who follow something of a site: at most 20 at once. */
export class SiteWatchers {
  readonly #what: string
  readonly #sites = new Map<string, Set<SiteWatcher>>()
  readonly #closed = new AbortController()

  /** `what` names what is followed, for the refusal: `this site's log`. */
  constructor(what: string) {
    this.#what = what
  }

  /** Until the signal, or until the watcher leaves by itself. */
  watch(siteId: string, signal: AbortSignal): SiteWatcher {
    const watchers = this.#sites.get(siteId) ?? new Set()
    if (watchers.size >= MAX_PER_SITE) {
      throw new AppError(
        'TooManyRequests',
        `${MAX_PER_SITE} streams of ${this.#what} are open already: close one`,
        { retryAfterSeconds: 10 },
      )
    }
    const watcher = new SiteWatcher([signal, this.#closed.signal])
    this.#sites.set(siteId, watchers.add(watcher))
    const left = () => {
      watchers.delete(watcher)
      if (watchers.size === 0) this.#sites.delete(siteId)
    }
    watcher.signal.addEventListener('abort', left, { once: true })
    if (watcher.signal.aborted) left()
    return watcher
  }

  /** `topic` says what of the site has news. */
  wake(siteId: string, topic = ANY_TOPIC): void {
    for (const watcher of this.#sites.get(siteId) ?? []) watcher.wake(topic)
  }

  wakeAll(): void {
    for (const siteId of this.#sites.keys()) this.wake(siteId)
  }

  close(): void {
    this.#closed.abort()
  }
}

/** Wakes one follower; a wake-up between `reset` and `wait` is not lost. */
export class SiteWatcher {
  readonly signal: AbortSignal
  readonly #leaving = new AbortController()
  #bell = new AbortController()
  #topics = new Set<string>()

  constructor(endings: readonly AbortSignal[]) {
    this.signal = AbortSignal.any([...endings, this.#leaving.signal])
  }

  leave(): void {
    this.#leaving.abort()
  }

  /** Returns the topics that had news since the last time. */
  reset(): ReadonlySet<string> {
    const topics = this.#topics
    this.#topics = new Set()
    this.#bell = new AbortController()
    return topics
  }

  wake(topic: string): void {
    this.#topics.add(topic)
    this.#bell.abort()
  }

  /** Until there is news, the time is over, or the signal ends it. */
  async wait(silenceMs: number): Promise<'news' | 'silence' | 'ended'> {
    const signal = AbortSignal.any([this.signal, this.#bell.signal])
    return setTimeout(silenceMs, 'silence' as const, { signal }).catch(() =>
      this.signal.aborted ? 'ended' : 'news',
    )
  }
}
