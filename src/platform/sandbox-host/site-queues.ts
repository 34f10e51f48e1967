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
  /** By depth. */
  readonly #waiting: PendingCall[][] = []
  /** Calls inside an isolate that wait for calls of their own, and for how many. */
  readonly #lenders = new Map<PendingCall, number>()
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
    return this.#waiting.reduce((sum, level) => sum + level.length, 0)
  }

  /** How many calls of that depth would wait for a place if one more came; those that will find one free do not count. */
  waitingWithOneMore(depth: number, concurrency: number): number {
    const free = Math.max(0, concurrency - this.#countedAt(depth))
    return Math.max(0, (this.#waiting[depth]?.length ?? 0) + 1 - free)
  }

  /**
   * The call that may start now. Deeper ones go first, because others that hold a place wait for them. Such a place is
   * lent while its call waits, but only to deeper calls: what comes fresh from outside counts every call inside.
   */
  get next(): PendingCall | undefined {
    const call = this.#level()?.[0]
    if (!call) return undefined
    return this.#countedAt(call.depth) < call.program.limits.concurrency ? call : undefined
  }

  get idle(): boolean {
    return this.running === 0 && this.waiting === 0
  }

  push(call: PendingCall): void {
    const level = this.#waiting[call.depth]
    if (level) level.push(call)
    else {
      while (this.#waiting.length < call.depth) this.#waiting.push([])
      this.#waiting[call.depth] = [call]
    }
  }

  lend(call: PendingCall): void {
    this.#lenders.set(call, (this.#lenders.get(call) ?? 0) + 1)
  }

  reclaim(call: PendingCall): void {
    const left = (this.#lenders.get(call) ?? 0) - 1
    if (left > 0) this.#lenders.set(call, left)
    else this.#lenders.delete(call)
  }

  /** Hands the next call over and charges what it will probably cost. */
  take(): PendingCall | undefined {
    const call = this.next
    if (!call) return undefined
    this.drop(call)
    this.running += 1
    call.chargedMs = this.costMs
    this.virtualMs += this.costMs
    return call
  }

  /** Takes the next call out. */
  drop(call: PendingCall): void {
    this.#waiting[call.depth]?.shift()
  }

  /** Puts a call that was never begun back to the front. */
  putBack(call: PendingCall): void {
    this.running -= 1
    this.virtualMs -= call.chargedMs
    const level = this.#waiting[call.depth]
    if (level) level.unshift(call)
    else this.push(call)
  }

  /** Charges what the call did cost. */
  finished(call: PendingCall, { cpuUs, first, nowMs }: CallEnd): void {
    const costMs = cpuUs / 1000
    this.running -= 1
    this.#lenders.delete(call)
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
    for (const level of this.#waiting) {
      for (let [call] = level; call; [call] = level) {
        if (nowMs - call.queuedMs < call.program.limits.queueMs) break
        level.shift()
        late.push(call)
      }
    }
    return late
  }

  /** Places that are taken, as a call of that depth sees them. */
  #countedAt(depth: number): number {
    return depth > 0 ? this.running - this.#lenders.size : this.running
  }

  /** The deepest calls that wait. */
  #level(): PendingCall[] | undefined {
    return this.#waiting.findLast((level) => level.length > 0)
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

  /** Queues a call, or answers it when its site has no place free and its queue is full. */
  push(call: PendingCall): void {
    const { queueKey: key, program } = call
    const { queueLength, concurrency } = program.limits
    let site = this.#sites.get(key)
    const waiting = site?.waitingWithOneMore(call.depth, concurrency) ?? 0
    if (waiting > queueLength) {
      const used = waiting - 1
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
    const ready = [...this.#active].filter(
      ({ next, running }) => next && (alone || running < half || next.depth > 0),
    )
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

  /** Ends a call that nobody waits for. */
  drop(site: SiteQueue, call: PendingCall): void {
    site.drop(call)
    this.#waiting -= 1
    if (site.waiting === 0) this.#active.delete(site)
    call.settle(failed({ kind: 'interrupted', message: 'Nobody waits for it any more' }))
  }

  putBack(call: PendingCall): void {
    const site = this.#sites.get(call.queueKey)
    if (!site) return
    site.putBack(call)
    this.#active.add(site)
    this.#running -= 1
    this.#waiting += 1
  }

  /** The call lends its place until as many `reclaim`s. */
  lend(call: PendingCall): void {
    this.#sites.get(call.queueKey)?.lend(call)
  }

  reclaim(call: PendingCall): void {
    this.#sites.get(call.queueKey)?.reclaim(call)
  }

  finished(call: PendingCall, end: { cpuUs: number; ok: boolean; nowMs: number }): void {
    const site = this.#sites.get(call.queueKey)
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

  quarantine({ queueKey, program }: PendingCall, nowMs: number): void {
    this.#proven.delete(program.key)
    this.#sites.get(queueKey)?.quarantine(nowMs)
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
