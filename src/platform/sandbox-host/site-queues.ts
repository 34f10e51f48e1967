import { LRUCache } from 'lru-cache'

import { failedOutcome, type PendingCall } from './pending-call.ts'
import type { Program, SiteCalls } from './sandbox.ts'
import { SiteHistory } from './site-history.ts'
import { SiteQueue } from './site-queue.ts'
import type { WorkerConnection } from './worker-connection.ts'

/** Successful calls after which a program is trusted to share a frame. */
const PROVEN_AFTER = 8
/** Sites whose calls are remembered. */
const MAX_HISTORIES = 20_000
/** Limits the bodies of one site's waiting calls together, in UTF-16 units: each may have 6 MiB. */
const MAX_WAITING_CHARACTERS = 64 * 1024 * 1024
/** Calls of a site that may go on without their clients, while they have host calls in flight: how many, how long. */
const MAX_LEFT = 64
const MAX_LEFT_MS = 10_000

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
  #inside = 0
  #suspended = 0
  #left = 0
  #waiting = 0

  get inside(): number {
    return this.#inside
  }
  /** Calls that hold a place. */
  get running(): number {
    return this.#inside - this.#suspended
  }

  get suspended(): number {
    return this.#suspended
  }

  /** Calls inside whose clients have gone. */
  get left(): number {
    return this.#left
  }

  get waiting(): number {
    return this.#waiting
  }

  callsOf(siteId: string): SiteCalls {
    const { running = 0, suspended = 0, waiting = 0 } = this.#sites.get(siteId) ?? {}
    return { running, suspended, queued: waiting }
  }

  /** Queues a call, or answers it when its site has no place free and its queue is full. Tells whether it has to wait for a place. */
  push(pending: PendingCall): boolean {
    const { queueKey: key } = pending
    const site = this.#sites.get(key)
    const waiting = site?.waitingWith(pending) ?? 0
    const met = waiting > 0 ? limitMet(pending, waiting, site?.waitingCharacters ?? 0) : undefined
    if (met) {
      pending.state = 'ended'
      pending.settle(failedOutcome({ kind: 'limit', ...met }))
      return false
    }
    const queue = site ? this.#levelled(site) : this.#opened(key)
    queue.push(pending)
    this.#active.add(queue)
    this.#waiting += 1
    return waiting > 0
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
    this.#inside += 1
    this.#virtualMs = Math.max(this.#virtualMs, site.virtualMs - pending.chargedMs)
    if (site.waiting === 0) this.#active.delete(site)
    return pending
  }

  /** Ends a queued call whose client has gone. */
  drop(pending: PendingCall): void {
    const site = this.#sites.get(pending.queueKey)
    if (!site) return
    site.drop(pending)
    this.#waiting -= 1
    if (site.waiting === 0) this.#active.delete(site)
    pending.settle(
      failedOutcome({ kind: 'interrupted', message: 'No caller waits for it any more' }),
    )
  }

  putBack(pending: PendingCall): void {
    const site = this.#sites.get(pending.queueKey)
    if (!site) return
    this.#ended(pending)
    site.putBack(pending)
    this.#active.add(site)
    this.#waiting += 1
  }

  /** The call lends its place until as many `reclaim`s. */
  releasePermit(pending: PendingCall): void {
    this.#sites.get(pending.queueKey)?.releasePermit(pending)
  }

  reacquirePermit(pending: PendingCall): void {
    this.#sites.get(pending.queueKey)?.reacquirePermit(pending)
  }

  /** The call was begun and waits for something: its place is free. */
  suspend(pending: PendingCall): void {
    if (pending.state !== 'running') return
    this.#suspended += 1
    this.#sites.get(pending.queueKey)?.suspend(pending)
  }

  /** The call waits for its client from now on. */
  setApart(pending: PendingCall): void {
    this.#sites.get(pending.queueKey)?.setApart(pending)
  }

  /** Whether the site's open calls hold as much memory of the worker as they may. */
  setCrowded(siteId: string, worker: WorkerConnection, isCrowded: boolean): void {
    const crowdedIn = this.#sites.get(siteId)?.crowdedIn
    if (isCrowded) crowdedIn?.add(worker)
    else crowdedIn?.delete(worker)
  }

  forgetWorker(worker: WorkerConnection): void {
    for (const { crowdedIn } of this.#sites.values()) crowdedIn.delete(worker)
  }

  /** The client of a call inside has gone. Gives the one of its site that has to end for it. */
  leave(pending: PendingCall, nowMs: number): PendingCall | undefined {
    const site = this.#sites.get(pending.queueKey)
    if (!site) return undefined
    pending.leftMs = nowMs
    this.#left += 1
    site.setApart(pending)
    site.left.add(pending)
    return site.left.size > MAX_LEFT ? site.left.values().next().value : undefined
  }

  /** Those that have gone on for too long without their clients. */
  overdue(nowMs: number): PendingCall[] {
    if (this.#left === 0) return []
    return [...this.#sites.values()].flatMap(({ left }) =>
      [...left].filter(({ leftMs }) => nowMs - leftMs > MAX_LEFT_MS),
    )
  }

  /** The call has taken that much processor time so far, and goes on. */
  used(pending: PendingCall | undefined, cpuUs: number): void {
    const site = pending && this.#sites.get(pending.queueKey)
    if (!site) return
    const { resumes, spentMs } = pending
    pending.spentMs = cpuUs / 1000
    pending.resumes = 0
    const newMs = pending.spentMs - spentMs
    site.charge(pending, newMs)
    pending.resumeMs += (newMs / Math.max(1, resumes) - pending.resumeMs) / 4
    if (isStream(pending)) site.history.streamed(newMs, performance.now())
  }

  /** A part of the call's request or response has passed through the service. */
  transferred(pending: PendingCall, costMs: number): void {
    const site = this.#sites.get(pending.queueKey)
    pending.partMs = costMs
    if (site) site.virtualMs += costMs
    site?.history.streamed(costMs, performance.now())
  }

  finished(pending: PendingCall, end: { cpuUs: number; ok: boolean; nowMs: number }): void {
    const site = this.#sites.get(pending.queueKey)
    if (!site) return
    this.#ended(pending)
    const successes = this.#proven.get(pending.program) ?? 0
    const first = successes < PROVEN_AFTER
    const costMs = end.cpuUs / 1000
    site.finished(pending, costMs)
    // A stream is judged by what each part of it takes, however long it lasts.
    const measuredMs = isStream(pending) ? costMs - pending.spentMs : costMs
    site.history.measured(measuredMs, { cold: first || pending.cold, nowMs: end.nowMs })
    // Any other is a program of its own each time.
    if (end.ok && first && pending.purpose === 'operation')
      this.#proven.set(pending.program, successes + 1)
  }

  #ended(pending: PendingCall): void {
    this.#inside -= 1
    if (pending.state === 'suspended') this.#suspended -= 1
    if (this.#sites.get(pending.queueKey)?.left.has(pending)) this.#left -= 1
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

const isStream = ({ call }: PendingCall): boolean => call.exchange?.isStream === true

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
