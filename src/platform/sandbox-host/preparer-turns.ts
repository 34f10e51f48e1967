import type { AppError } from '#base/app-error.ts'

/** In this time what a site has used counts half. */
const HALF_LIFE_MS = 30_000
/** A site that has used so much recently leaves one process to the others. */
const HEAVY_MS = 1000

export interface PreparerTurnsOptions {
  /** Turns that run at the same time. */
  readonly processes: number
  /** Turns of one site that may wait. */
  readonly maxWaiting: number
  refuse(): AppError
  /** Milliseconds of a clock that never goes back. */
  now(): number
}

interface Usage {
  readonly cpuMs: number
  readonly atMs: number
}

interface Waiter {
  readonly sinceMs: number
  readonly admit: () => void
}

/**
 * Who prepares code next. A site has one turn at a time. The next turn is that of the site which has used the least processor
 * time recently; what it has waited counts against what it has used, so that every site has its turn. With two processes, one of
 * them is only for sites that have used little.
 */
export class PreparerTurns {
  readonly #options: PreparerTurnsOptions
  readonly #waiting = new Map<string, Waiter[]>()
  readonly #running = new Set<string>()
  readonly #usage = new Map<string, Usage>()

  constructor(options: PreparerTurnsOptions) {
    this.#options = options
  }

  /** Rejects with the error of `refuse` when as many turns of the site wait as may. */
  async run<Result>(
    siteId: string,
    work: (charge: (cpuMs: number) => void) => Promise<Result>,
  ): Promise<Result> {
    await this.#admission(siteId)
    try {
      return await work((cpuMs) => this.#charge(siteId, cpuMs))
    } finally {
      this.#running.delete(siteId)
      this.#admitNext()
    }
  }

  #admission(siteId: string): Promise<void> {
    const waiting = this.#waiting.get(siteId) ?? []
    if (waiting.length >= this.#options.maxWaiting) return Promise.reject(this.#options.refuse())
    this.#waiting.set(siteId, waiting)
    return new Promise((admit) => {
      waiting.push({ sinceMs: this.#options.now(), admit })
      this.#admitNext()
    })
  }

  #admitNext(): void {
    const siteId = this.#next()
    const waiting = siteId === undefined ? undefined : this.#waiting.get(siteId)
    const first = waiting?.shift()
    if (siteId === undefined || !first) return
    if (waiting?.length === 0) this.#waiting.delete(siteId)
    this.#running.add(siteId)
    first.admit()
  }

  #next(): string | undefined {
    const { processes } = this.#options
    if (this.#running.size >= processes) return undefined
    const nowMs = this.#options.now()
    const heavyRunning = [...this.#running].filter((siteId) => this.#isHeavy(siteId, nowMs)).length
    const roomForHeavy = heavyRunning < Math.max(1, processes - 1)
    let best: { readonly siteId: string; readonly owedMs: number } | undefined
    for (const [siteId, [first]] of this.#waiting) {
      if (!first || this.#running.has(siteId)) continue
      if (!roomForHeavy && this.#isHeavy(siteId, nowMs)) continue
      const owedMs = this.#usedMs(siteId, nowMs) - (nowMs - first.sinceMs)
      if (best === undefined || owedMs < best.owedMs) best = { siteId, owedMs }
    }
    return best?.siteId
  }

  #isHeavy(siteId: string, nowMs: number): boolean {
    return this.#usedMs(siteId, nowMs) >= HEAVY_MS
  }

  #usedMs(siteId: string, nowMs: number): number {
    const usage = this.#usage.get(siteId)
    return usage === undefined ? 0 : usage.cpuMs * 0.5 ** ((nowMs - usage.atMs) / HALF_LIFE_MS)
  }

  #charge(siteId: string, cpuMs: number): void {
    const atMs = this.#options.now()
    this.#usage.set(siteId, { cpuMs: this.#usedMs(siteId, atMs) + cpuMs, atMs })
    for (const known of this.#usage.keys()) {
      if (this.#usedMs(known, atMs) < 1) this.#usage.delete(known)
    }
  }
}
