import type { PendingCall } from './pending-call.ts'
import type { Program } from './sandbox.ts'
import type { SiteHistory } from './site-history.ts'

/** The calls of a site that wait, and how many run. */
export class SiteQueue {
  readonly key: string
  readonly history: SiteHistory
  /** The waiting calls of each depth. */
  readonly #waiting: PendingCall[][] = []
  /** Calls inside an isolate that wait for calls of their own, and for how many. */
  readonly #lenders = new Map<PendingCall, number>()
  /** Time it has been given, in milliseconds; the smallest is served next. */
  virtualMs: number
  running = 0
  /** Calls that wait, of whatever depth. */
  waiting = 0
  /** How many of them no other call of the site waits for. */
  #runningFromOutside = 0
  /** Whether the call before came from outside: then one that others wait for is next. */
  #wasFromOutside = false
  /** The length of the waiting calls' bodies, in UTF-16 units. */
  waitingCharacters = 0

  constructor(key: string, history: SiteHistory, virtualMs: number) {
    this.key = key
    this.history = history
    this.virtualMs = virtualMs
  }

  /** How many calls of that depth would wait for a place if one more came; those that will find one free do not count. */
  waitingWithOneMore(depth: number, concurrency: number): number {
    const free = Math.max(0, concurrency - this.#countedAt(depth))
    return Math.max(0, (this.#waiting[depth]?.length ?? 0) + 1 - free)
  }

  /**
   * The call that may start now. Of those that others wait for the deepest goes first, in turns with what comes from
   * outside, so that one call that sets off many does not keep the site's visitors waiting. A call lends its place while
   * it waits for others, but only to those: what comes from outside counts all that came from there.
   */
  get next(): PendingCall | undefined {
    const outside = this.#waiting[0]?.[0]
    // Most sites' calls set off no others.
    if (this.#waiting.length <= 1) {
      return outside !== undefined && this.#hasPlaceFor(outside) ? outside : undefined
    }
    const nested = this.#waiting.findLast((level, depth) => depth > 0 && level.length > 0)?.[0]
    const turn = this.#wasFromOutside ? [nested, outside] : [outside, nested]
    return turn.find((pending) => pending !== undefined && this.#hasPlaceFor(pending))
  }

  /** Whether a call of that program waits first in line, of whatever depth: those of one program come together. */
  isNext(program: Program): boolean {
    return this.#waiting.some(([first]) => first?.program === program)
  }

  get idle(): boolean {
    return this.running === 0 && this.waiting === 0
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
    this.#lenders.set(pending, (this.#lenders.get(pending) ?? 0) + 1)
  }

  reacquirePermit(pending: PendingCall): void {
    const left = (this.#lenders.get(pending) ?? 0) - 1
    if (left > 0) this.#lenders.set(pending, left)
    else this.#lenders.delete(pending)
  }

  /** Hands the next call over and charges what it will probably cost. */
  take(): PendingCall | undefined {
    const pending = this.next
    if (!pending) return undefined
    this.drop(pending)
    this.running += 1
    this.#wasFromOutside = isFromOutside(pending)
    if (this.#wasFromOutside) this.#runningFromOutside += 1
    pending.chargedMs = this.history.costMs
    this.virtualMs += this.history.costMs
    return pending
  }

  /** Takes the next call out. */
  drop(pending: PendingCall): void {
    this.#waiting[pending.call.depth]?.shift()
    this.#went(pending)
  }

  /** Puts a call that was never begun back to the front. */
  putBack(pending: PendingCall): void {
    this.#left(pending)
    this.virtualMs -= pending.chargedMs
    const level = this.#waiting[pending.call.depth]
    if (!level) {
      this.push(pending)
      return
    }
    level.unshift(pending)
    this.#came(pending)
  }

  /** Charges what the call did cost. */
  finished(pending: PendingCall, costMs: number): void {
    this.#left(pending)
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
    this.waiting += 1
    this.waitingCharacters += pending.call.body.length
  }

  #went(pending: PendingCall): void {
    this.waiting -= 1
    this.waitingCharacters -= pending.call.body.length
  }

  #left(pending: PendingCall): void {
    this.running -= 1
    if (isFromOutside(pending)) this.#runningFromOutside -= 1
  }

  #hasPlaceFor({ call, program }: PendingCall): boolean {
    return this.#countedAt(call.depth) < program.limits.concurrency
  }

  /** Places that are taken, as a call of that depth sees them. */
  #countedAt(depth: number): number {
    const active = this.running - this.#lenders.size
    return depth > 0 ? active : Math.max(active, this.#runningFromOutside)
  }
}

const isFromOutside = ({ call }: PendingCall): boolean => call.depth === 0
