import { LRUCache } from 'lru-cache'

import { failedOutcome, type PendingCall } from './pending-call.ts'
import type { Program } from './sandbox.ts'
import { SiteHistory } from './site-history.ts'
import { SiteQueue } from './site-queue.ts'

/** Successful calls after which a program is trusted to share a frame. */
const PROVEN_AFTER = 8
/** Sites whose calls are remembered. */
const MAX_HISTORIES = 20_000
/** Limits the bodies of one site's waiting calls together, in UTF-16 units: each may have 6 MiB. */
const MAX_WAITING_CHARACTERS = 64 * 1024 * 1024

/**
 * The calls that wait, by site. Within a site first come, first served; between sites the one that has been given the
 * least time is next. A site that comes back after a pause starts level with the others: unused time is not saved up.
 */
export class SiteQueues {
  readonly #sites = new Map<string, SiteQueue>()
  readonly #active = new Set<SiteQueue>()
  readonly #histories = new LRUCache<string, SiteHistory>({
    // `max` would reserve all places at once: 1 ms at each start.
    maxSize: MAX_HISTORIES,
    sizeCalculation: () => 1,
  })
  /** Successes of each program. The program itself is the key: its last calls may end after it was retired. */
  readonly #proven = new WeakMap<Program, number>()
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
  push(pending: PendingCall): void {
    const { queueKey: key, program } = pending
    const { concurrency } = program.limits
    const site = this.#sites.get(key)
    const waiting = site?.waitingWithOneMore(pending.call.depth, concurrency) ?? 0
    const met = waiting > 0 ? limitMet(pending, waiting, site?.waitingCharacters ?? 0) : undefined
    if (met) {
      pending.settle(failedOutcome({ kind: 'limit', ...met }))
      return
    }
    if (waiting > 0) pending.leaving = pending.call.visitorSignal?.()
    const queue = site ? this.#levelled(site) : this.#opened(key)
    queue.push(pending)
    this.#active.add(queue)
    this.#waiting += 1
  }

  /** The sites with calls that may start, the one served next first. */
  inOrder(capacity: number): SiteQueue[] {
    const half = Math.max(1, Math.floor(capacity / 2))
    const alone = this.#active.size === 1
    const ready = [...this.#active].filter(
      ({ next, running }) => next && (alone || running < half || next.call.depth > 0),
    )
    return ready.length > 1 ? ready.sort((one, two) => one.virtualMs - two.virtualMs) : ready
  }

  take(site: SiteQueue): PendingCall | undefined {
    const pending = site.take()
    if (!pending) return undefined
    this.#waiting -= 1
    this.#running += 1
    this.#virtualMs = Math.max(this.#virtualMs, site.virtualMs - pending.chargedMs)
    if (site.waiting === 0) this.#active.delete(site)
    return pending
  }

  /** Ends a call that nobody waits for. */
  drop(site: SiteQueue, pending: PendingCall): void {
    site.drop(pending)
    this.#waiting -= 1
    if (site.waiting === 0) this.#active.delete(site)
    pending.settle(failedOutcome({ kind: 'interrupted', message: 'Nobody waits for it any more' }))
  }

  putBack(pending: PendingCall): void {
    const site = this.#sites.get(pending.queueKey)
    if (!site) return
    site.putBack(pending)
    this.#active.add(site)
    this.#running -= 1
    this.#waiting += 1
  }

  /** The call lends its place until as many `reclaim`s. */
  releasePermit(pending: PendingCall): void {
    this.#sites.get(pending.queueKey)?.releasePermit(pending)
  }

  reacquirePermit(pending: PendingCall): void {
    this.#sites.get(pending.queueKey)?.reacquirePermit(pending)
  }

  finished(pending: PendingCall, end: { cpuUs: number; ok: boolean; nowMs: number }): void {
    const site = this.#sites.get(pending.queueKey)
    if (!site) return
    this.#running -= 1
    const successes = this.#proven.get(pending.program) ?? 0
    const first = successes < PROVEN_AFTER
    const costMs = end.cpuUs / 1000
    site.finished(pending, costMs)
    site.history.measured(costMs, { cold: first || pending.cold, nowMs: end.nowMs })
    // Any other is a program of its own each time.
    if (end.ok && first && pending.purpose === 'operation')
      this.#proven.set(pending.program, successes + 1)
  }

  /** Whether more calls of its program wait. */
  isFollowed({ queueKey, program }: PendingCall): boolean {
    return this.#sites.get(queueKey)?.isNext(program) === true
  }

  /** Whether the call must not share a frame with others: what it costs is not known, or may be much. */
  isRisky({ history }: SiteQueue, pending: PendingCall, nowMs: number): boolean {
    if (
      pending.purpose !== 'operation' ||
      !history.isMeasured ||
      history.roleAt(nowMs) !== 'ordinary'
    )
      return true
    return (this.#proven.get(pending.program) ?? 0) < PROVEN_AFTER
  }

  quarantine({ queueKey, program }: PendingCall, nowMs: number): void {
    this.#proven.delete(program)
    this.#historyOf(queueKey).quarantine(nowMs)
  }

  /** Answers what has waited too long. */
  sweep(nowMs: number): void {
    for (const site of this.#active) {
      for (const pending of site.expired(nowMs)) {
        this.#waiting -= 1
        const used = Math.round(nowMs - pending.queuedMs)
        const limit = pending.program.limits.queueMs
        pending.settle(failedOutcome({ kind: 'limit', what: 'queueMs', limit, used }))
      }
      if (site.waiting === 0) this.#active.delete(site)
    }
  }

  /** Drops the queues of sites that are silent; their histories stay. */
  forgetIdle(): void {
    for (const [key, site] of this.#sites) {
      if (site.idle) this.#sites.delete(key)
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

  #opened(key: string): SiteQueue {
    const site = new SiteQueue(key, this.#historyOf(key), this.#virtualMs)
    this.#sites.set(key, site)
    return site
  }

  #historyOf(key: string): SiteHistory {
    const known = this.#sites.get(key)?.history ?? this.#histories.get(key)
    if (known) return known
    const history = new SiteHistory()
    this.#histories.set(key, history)
    return history
  }

  #levelled(site: SiteQueue): SiteQueue {
    if (site.idle) site.virtualMs = Math.max(site.virtualMs, this.#virtualMs)
    return site
  }
}

/** What keeps a call from waiting: how many there would be, or how long they are together. */
function limitMet({ program, call }: PendingCall, waiting: number, characters: number) {
  const { queueLength } = program.limits
  if (waiting > queueLength) {
    return { what: 'queueLength', limit: queueLength, used: waiting - 1 } as const
  }
  const limit = MAX_WAITING_CHARACTERS
  if (characters + call.body.length <= limit) return undefined
  return { what: 'queueCharacters', limit, used: characters } as const
}
