import type { SandboxFailure } from '#platform/sandbox-host/sandbox.ts'

/** Presets of one site at work at once: each holds a connection of the database or the object store. */
const MAX_RUNNING = 16

/** Why work was not let through. */
type Turned = Extract<SandboxFailure, { kind: 'limit' | 'interrupted' }>

export interface GateLimits {
  readonly concurrency: number
  readonly queueLength: number
  readonly queueMs: number
}

interface AskedWork {
  readonly siteId: string
  readonly limits: GateLimits
  /** Aborted when nobody waits for it any more: then it is not begun. */
  readonly signal?: AbortSignal | undefined
}

interface SitePlaces {
  running: number
  readonly waiting: Set<() => void>
}

/** Lets a site's work through, some of it at once, the rest in turn, each within its time. */
export class SiteGate {
  readonly #sites = new Map<string, SitePlaces>()

  /** Gives the limit that was met instead of the result. */
  async run<Result>(
    { siteId, limits, signal }: AskedWork,
    work: () => Promise<Result>,
  ): Promise<{ readonly result: Result } | { readonly met: Turned }> {
    if (signal?.aborted) return { met: GONE }
    const places = this.#sites.get(siteId) ?? { running: 0, waiting: new Set() }
    this.#sites.set(siteId, places)
    if (places.running < Math.min(MAX_RUNNING, limits.concurrency)) places.running += 1
    else {
      const met = await this.#wait(places, limits, signal)
      if (met) return { met }
    }
    try {
      return { result: await work() }
    } finally {
      this.#leave(siteId, places)
    }
  }

  /** Undefined when a place was handed over. */
  #wait(
    { waiting }: SitePlaces,
    { queueLength, queueMs }: GateLimits,
    signal: AbortSignal | undefined,
  ): Promise<Turned | undefined> {
    if (waiting.size >= queueLength) {
      const used = waiting.size + 1
      return Promise.resolve({ kind: 'limit', what: 'queueLength', limit: queueLength, used })
    }
    return new Promise((resolve) => {
      const end = (turned?: Turned): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', gone)
        waiting.delete(enter)
        resolve(turned)
      }
      const enter = (): void => end()
      const gone = (): void => end(GONE)
      const late = { kind: 'limit', what: 'queueMs', limit: queueMs, used: queueMs } as const
      const timer = setTimeout(() => end(late), queueMs)
      signal?.addEventListener('abort', gone, { once: true })
      waiting.add(enter)
    })
  }

  #leave(siteId: string, places: SitePlaces): void {
    const [next] = places.waiting
    if (next) {
      places.waiting.delete(next)
      next()
      return
    }
    places.running -= 1
    if (places.running === 0) this.#sites.delete(siteId)
  }
}

const GONE: Turned = { kind: 'interrupted', message: 'Nobody waits for it any more' }
