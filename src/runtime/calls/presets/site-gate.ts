import type { SandboxFailure } from '#platform/sandbox-host/sandbox.ts'

/** Presets of one site at work at once: each holds a connection of the database or the object store. */
const MAX_RUNNING = 16

export type GateLimit = Extract<SandboxFailure, { kind: 'limit' }>

export interface GateLimits {
  readonly concurrency: number
  readonly queueLength: number
  readonly queueMs: number
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
    siteId: string,
    limits: GateLimits,
    work: () => Promise<Result>,
  ): Promise<{ readonly result: Result } | { readonly met: GateLimit }> {
    const places = this.#sites.get(siteId) ?? { running: 0, waiting: new Set() }
    this.#sites.set(siteId, places)
    if (places.running < Math.min(MAX_RUNNING, limits.concurrency)) places.running += 1
    else {
      const met = await this.#wait(places, limits)
      if (met) return { met }
    }
    try {
      return { result: await work() }
    } finally {
      this.#leave(siteId, places)
    }
  }

  /** Undefined when a place was handed over. */
  #wait(places: SitePlaces, limits: GateLimits): Promise<GateLimit | undefined> {
    const { waiting } = places
    if (waiting.size >= limits.queueLength) {
      const used = waiting.size + 1
      return Promise.resolve({
        kind: 'limit',
        what: 'queueLength',
        limit: limits.queueLength,
        used,
      })
    }
    return new Promise((resolve) => {
      const enter = (): void => {
        clearTimeout(timer)
        resolve(undefined)
      }
      const timer = setTimeout(() => {
        waiting.delete(enter)
        resolve({ kind: 'limit', what: 'queueMs', limit: limits.queueMs, used: limits.queueMs })
      }, limits.queueMs)
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
