import type { PendingCall } from './pending-call.ts'
import type { Program } from './sandbox.ts'
import type { SiteHistory } from './site-history.ts'
import type { WorkerConnection } from './worker-connection.ts'

/** Limits the bodies of a site's calls inside isolates together, in UTF-16 units; a single longer one fits. */
const MAX_INSIDE_CHARACTERS = 128 * 1024 * 1024

/** The calls of a site that wait for a place, and those that are inside an isolate: running, or suspended. */
export class SiteQueue {
  readonly key: string
  readonly history: SiteHistory
  /** The waiting calls of each depth. */
  readonly #waiting: PendingCall[][] = []
  /** Calls inside an isolate that wait for calls of their own, and for how many. */
  readonly #lenders = new Map<PendingCall, number>()
  /** Calls inside an isolate whose clients have gone, the first that left first. */
  readonly left = new Set<PendingCall>()
  /** Workers of which its open calls hold as much memory as they may. */
  readonly crowdedIn = new Set<WorkerConnection>()
  /** Time it has been given, in milliseconds; the smallest is served next. */
  virtualMs: number
  /** Calls inside an isolate. */
  inside = 0
  /** Those of them that wait for something, and hold no place. */
  suspended = 0
  /** Calls that wait for a place, of whatever depth. */
  waiting = 0
  /** Calls inside that count against what may be suspended: not those that wait for their clients, or whose clients have gone. */
  #counted = 0
  /** How many of them no other call of the site waits for. */
  #countedFromOutside = 0
  /** The length of the bodies of the calls inside, in UTF-16 units. */
  #insideCharacters = 0
  /** Whether the call before came from outside: then one that others wait for is next. */
  #wasFromOutside = false
  /** The length of the waiting calls' bodies, in UTF-16 units. */
  waitingCharacters = 0

  constructor(key: string, history: SiteHistory, virtualMs: number) {
    this.key = key
    this.history = history
    this.virtualMs = virtualMs
  }

  /** Calls that hold a place. */
  get running(): number {
    return this.inside - this.suspended
  }

  /** How many calls of its depth would wait for a place if this one came; those that will find one free do not count. */
  waitingWith(pending: PendingCall): number {
    const { depth } = pending.call
    return Math.max(0, (this.#waiting[depth]?.length ?? 0) + 1 - this.#freeFor(pending))
  }

  /**
   * The call that may start now. Of those that others wait for the deepest goes first, in turns with what comes from
   * outside, so that one call that sets off many does not keep the site's visitors waiting. A call that waits for others
   * counts for nothing among those; what comes from outside counts all that came from there.
   */
  get next(): PendingCall | undefined {
    const outside = this.#waiting[0]?.[0]
    // Most sites' calls set off no others.
    if (this.#waiting.length <= 1) {
      return outside !== undefined && this.#freeFor(outside) > 0 ? outside : undefined
    }
    const nested = this.#waiting.findLast((level, depth) => depth > 0 && level.length > 0)?.[0]
    const turn = this.#wasFromOutside ? [nested, outside] : [outside, nested]
    return turn.find((pending) => pending !== undefined && this.#freeFor(pending) > 0)
  }

  /** Whether a call of that program waits first in line, of whatever depth: those of one program come together. */
  isNext(program: Program): boolean {
    return this.#waiting.some(([first]) => first?.program === program)
  }

  get idle(): boolean {
    return this.inside === 0 && this.waiting === 0
  }

  push(pending: PendingCall): void {
    this.#came(pending)
    const level = this.#waiting[pending.call.depth]
    if (level) level.push(pending)
    else {
      while (this.#waiting.length < pending.call.depth) this.#waiting.push([])
      this.#waiting[pending.call.depth] = [pending]
    }
  }

  releasePermit(pending: PendingCall): void {
    if (!pending.isApart) this.#lenders.set(pending, (this.#lenders.get(pending) ?? 0) + 1)
  }

  reacquirePermit(pending: PendingCall): void {
    const left = (this.#lenders.get(pending) ?? 0) - 1
    if (left > 0) this.#lenders.set(pending, left)
    else this.#lenders.delete(pending)
  }

  /** The call waits for something: its place is free. */
  suspend(pending: PendingCall): void {
    pending.state = 'suspended'
    this.suspended += 1
  }

  /** The call waits for its client, or has none any more: other bounds than the one of suspended calls hold for it. */
  setApart(pending: PendingCall): void {
    if (pending.isApart) return
    pending.isApart = true
    this.#lenders.delete(pending)
    this.#uncount(pending)
  }

  /** Hands the next call over and charges what it will probably cost. */
  take(): PendingCall | undefined {
    const pending = this.next
    if (!pending) return undefined
    this.drop(pending)
    pending.state = 'running'
    this.inside += 1
    this.#insideCharacters += pending.call.body.length
    this.#counted += 1
    this.#wasFromOutside = isFromOutside(pending)
    if (this.#wasFromOutside) this.#countedFromOutside += 1
    pending.chargedMs = this.history.costMs
    this.virtualMs += this.history.costMs
    return pending
  }

  /** Takes a waiting call out. */
  drop(pending: PendingCall): void {
    const level = this.#waiting[pending.call.depth] ?? []
    if (level[0] === pending) level.shift()
    else level.splice(level.indexOf(pending), 1)
    this.#went(pending)
  }

  /** Puts a call that was never begun back to the front. */
  putBack(pending: PendingCall): void {
    this.#ended(pending)
    pending.isApart = false
    this.virtualMs -= pending.chargedMs
    const level = this.#waiting[pending.call.depth]
    if (!level) {
      this.push(pending)
      return
    }
    level.unshift(pending)
    this.#came(pending)
  }

  /** Charges what the call has cost before its end. */
  charge(pending: PendingCall, costMs: number): void {
    pending.chargedMs += costMs
    this.virtualMs += costMs
  }

  /** Charges what the call did cost. */
  finished(pending: PendingCall, costMs: number): void {
    this.#ended(pending)
    pending.state = 'ended'
    this.#lenders.delete(pending)
    this.virtualMs += costMs - pending.chargedMs
  }

  /** Takes out the calls that have waited too long. */
  expired(nowMs: number): PendingCall[] {
    const late: PendingCall[] = []
    for (const level of this.#waiting) {
      for (let [pending] = level; pending; [pending] = level) {
        if (nowMs - pending.queuedMs < pending.program.limits.queueMs) break
        level.shift()
        this.#went(pending)
        late.push(pending)
      }
    }
    return late
  }

  #came(pending: PendingCall): void {
    pending.state = 'queued'
    this.waiting += 1
    this.waitingCharacters += pending.call.body.length
  }

  #went(pending: PendingCall): void {
    pending.state = 'ended'
    this.waiting -= 1
    this.waitingCharacters -= pending.call.body.length
  }

  #ended(pending: PendingCall): void {
    this.inside -= 1
    this.#insideCharacters -= pending.call.body.length
    if (pending.state === 'suspended') this.suspended -= 1
    this.left.delete(pending)
    if (!pending.isApart) this.#uncount(pending)
  }

  #uncount(pending: PendingCall): void {
    this.#counted -= 1
    if (isFromOutside(pending)) this.#countedFromOutside -= 1
  }

  /** How many more calls like this one may start: as there are places, as may be suspended, and as there is memory. */
  #freeFor({ call, program, purpose }: PendingCall): number {
    if (call.depth === 0 && this.inside > 0 && !this.#hasMemoryFor(call.body.length)) return 0
    const { concurrency, suspendedCalls } = program.limits
    // Other code has an isolate of its own for each call.
    const mostInside = concurrency + (purpose === 'operation' ? suspendedCalls : 0)
    const free = Math.min(concurrency - this.running, mostInside - this.#countedAt(call.depth))
    return Math.max(0, free)
  }

  #hasMemoryFor(characters: number): boolean {
    return this.crowdedIn.size === 0 && this.#insideCharacters + characters <= MAX_INSIDE_CHARACTERS
  }

  /** Calls inside, as one of that depth counts them. */
  #countedAt(depth: number): number {
    const active = this.#counted - this.#lenders.size
    return depth > 0 ? active : Math.max(active, this.#countedFromOutside)
  }
}

const isFromOutside = ({ call }: PendingCall): boolean => call.depth === 0
