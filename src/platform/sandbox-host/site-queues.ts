import type { PendingCall } from './pending-call.ts'
import { failed } from './pending-call.ts'

/** Weight of a new measurement in a site's mean. */
const SMOOTHING = 1 / 8
/** What a call of a site that was never seen is taken to cost. */
const FIRST_COST_MS = 1
/** A call that took longer makes its site one that runs apart, for a while. A first call also loads its code. */
const LONG_MS = 5
const LONG_FIRST_MS = 50
const APART_MS = 10_000
/** A site that brought a host down runs in frames of its own that long. */
const QUARANTINE_MS = 60_000
/** Successful calls after which a program is trusted to share a frame. */
const PROVEN_AFTER = 8

interface CallEnd {
  readonly cpuUs: number
  /** Among the first of its program. */
  readonly first: boolean
  readonly nowMs: number
}

/** What the service knows of a site's calls. */
export class SiteQueue {
  readonly key: string
  readonly #waiting: PendingCall[] = []
  /** Time it has been given, in milliseconds; the smallest is served next. */
  virtualMs: number
  running = 0
  costMs = FIRST_COST_MS
  apartUntilMs = 0
  quarantinedUntilMs = 0

  constructor(key: string, virtualMs: number) {
    this.key = key
    this.virtualMs = virtualMs
  }

  get waiting(): number {
    return this.#waiting.length
  }

  get next(): PendingCall | undefined {
    return this.#waiting[0]
  }

  get idle(): boolean {
    return this.running === 0 && this.#waiting.length === 0
  }

  push(call: PendingCall): void {
    this.#waiting.push(call)
  }

  /** Hands the next call over and charges what it will probably cost. */
  take(): PendingCall | undefined {
    const call = this.#waiting.shift()
    if (!call) return undefined
    this.running += 1
    call.chargedMs = this.costMs
    this.virtualMs += this.costMs
    return call
  }

  /** Puts a call that was never begun back to the front. */
  putBack(call: PendingCall): void {
    this.running -= 1
    this.virtualMs -= call.chargedMs
    this.#waiting.unshift(call)
  }

  /** Charges what the call did cost. */
  finished(call: PendingCall, { cpuUs, first, nowMs }: CallEnd): void {
    const costMs = cpuUs / 1000
    this.running -= 1
    this.virtualMs += costMs - call.chargedMs
    this.costMs += (costMs - this.costMs) * SMOOTHING
    if (costMs > (first ? LONG_FIRST_MS : LONG_MS)) this.apartUntilMs = nowMs + APART_MS
  }

  quarantine(nowMs: number): void {
    this.quarantinedUntilMs = nowMs + QUARANTINE_MS
    this.apartUntilMs = this.quarantinedUntilMs
  }

  /** Takes out the calls that have waited too long. */
  expired(nowMs: number): PendingCall[] {
    const late: PendingCall[] = []
    for (let call = this.next; call; call = this.next) {
      if (nowMs - call.queuedMs < call.program.limits.queueMs) break
      this.#waiting.shift()
      late.push(call)
    }
    return late
  }
}

/**
 * The calls that wait, by site. Within a site first come, first served; between sites the one that has been given the
 * least time is next. A site that comes back after a pause starts level with the others: unused time is not saved up.
 */
export class SiteQueues {
  readonly #sites = new Map<string, SiteQueue>()
  readonly #active = new Set<SiteQueue>()
  readonly #proven = new Map<string, number>()
  #virtualMs = 0
  #running = 0
  #waiting = 0

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Queues a call, or answers it when its site's queue is full. */
  push(key: string, call: PendingCall): void {
    const { queueLength } = call.program.limits
    let site = this.#sites.get(key)
    if (site && site.waiting >= queueLength) {
      const used = site.waiting
      call.settle(failed({ kind: 'limit', what: 'queueLength', limit: queueLength, used }))
      return
    }
    if (!site) {
      site = new SiteQueue(key, this.#virtualMs)
      this.#sites.set(key, site)
    } else if (site.idle) {
      site.virtualMs = Math.max(site.virtualMs, this.#virtualMs)
    }
    site.push(call)
    this.#active.add(site)
    this.#waiting += 1
  }

  /** The sites with calls that may start, the one served next first. */
  inOrder(capacity: number): SiteQueue[] {
    const half = Math.max(1, Math.floor(capacity / 2))
    const alone = this.#active.size === 1
    const ready = [...this.#active].filter((site) => {
      const concurrency = site.next?.program.limits.concurrency ?? 0
      return site.running < concurrency && (alone || site.running < half)
    })
    return ready.length > 1 ? ready.sort((one, two) => one.virtualMs - two.virtualMs) : ready
  }

  take(site: SiteQueue): PendingCall | undefined {
    const call = site.take()
    if (!call) return undefined
    this.#waiting -= 1
    this.#running += 1
    this.#virtualMs = Math.max(this.#virtualMs, site.virtualMs - call.chargedMs)
    if (site.waiting === 0) this.#active.delete(site)
    return call
  }

  putBack(key: string, call: PendingCall): void {
    const site = this.#sites.get(key)
    if (!site) return
    site.putBack(call)
    this.#active.add(site)
    this.#running -= 1
    this.#waiting += 1
  }

  finished(
    key: string,
    call: PendingCall,
    end: { cpuUs: number; ok: boolean; nowMs: number },
  ): void {
    const site = this.#sites.get(key)
    if (!site) return
    this.#running -= 1
    const successes = this.#proven.get(call.program.key) ?? 0
    const first = successes < PROVEN_AFTER
    site.finished(call, { cpuUs: end.cpuUs, first, nowMs: end.nowMs })
    if (end.ok && successes < PROVEN_AFTER) this.#proven.set(call.program.key, successes + 1)
  }

  /** Whether the call must not share a frame with others. */
  isRisky(site: SiteQueue, call: PendingCall, nowMs: number): boolean {
    if (call.adHoc || site.quarantinedUntilMs > nowMs) return true
    return (this.#proven.get(call.program.key) ?? 0) < PROVEN_AFTER
  }

  quarantine(key: string, program: string, nowMs: number): void {
    this.#proven.delete(program)
    this.#sites.get(key)?.quarantine(nowMs)
  }

  forgetProgram(program: string): void {
    this.#proven.delete(program)
  }

  /** Answers what has waited too long and forgets sites that have nothing to remember. */
  sweep(nowMs: number): void {
    for (const site of this.#active) {
      for (const call of site.expired(nowMs)) {
        this.#waiting -= 1
        const used = Math.round(nowMs - call.queuedMs)
        const limit = call.program.limits.queueMs
        call.settle(failed({ kind: 'limit', what: 'queueMs', limit, used }))
      }
      if (site.waiting === 0) this.#active.delete(site)
    }
  }

  forgetIdle(nowMs: number): void {
    for (const [key, site] of this.#sites) {
      if (site.idle && site.apartUntilMs < nowMs) this.#sites.delete(key)
    }
  }

  /** Takes out everything that waits. */
  drain(): PendingCall[] {
    const calls: PendingCall[] = []
    for (const site of this.#active) calls.push(...site.expired(Number.POSITIVE_INFINITY))
    this.#active.clear()
    this.#waiting = 0
    return calls
  }
}
