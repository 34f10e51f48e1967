import { doubledMs } from '#base/backoff.ts'

import type { HostRole } from './slot-key.ts'

/** Weight of a new measurement in a site's mean. */
const SMOOTHING = 1 / 8
/** What a call of a site that was never seen is taken to cost. */
const FIRST_COST_MS = 1
/** A call that took longer keeps its site from those whose calls are shorter, for a while. A cold one also loads its code. */
const SHORT_MS = 5
const COLD_MS = 50
const APART_MS = 10_000
/** Others must not wait for a site whose calls take longer. It stays among its kind twice as long after each. */
const MEDIUM_MS = 100
const MAX_LONG_MS = 60 * 60_000
/** Streams whose parts take more of each second keep their site apart, too. */
const STREAMING_MS = 50
const STREAMING_EVERY_MS = 1000
/** A site that brought a host down stays away from all others: twice as long each time. */
const QUARANTINE_MS = 60_000
const MAX_QUARANTINE_MS = 6 * 60 * 60_000
/** How long its next call waits, so that hosts are not ended as fast as they start: twice as long each time. */
const HOLD_MS = 250
const MAX_HOLD_MS = 30_000
/** What was counted is forgotten after so long without more. */
const FORGIVEN_AFTER_MS = 24 * 60 * 60_000

/** How often something happened, and until when it has consequences. */
class Strikes {
  untilMs = 0
  #count = 0

  /** Adds one; gives how many there were before, and lets the consequences last for `baseMs` doubled as often. */
  add(nowMs: number, { baseMs, maxMs }: { baseMs: number; maxMs: number }): number {
    if (nowMs - this.untilMs > FORGIVEN_AFTER_MS) this.#count = 0
    const before = this.#count
    this.#count += 1
    this.untilMs = Math.max(this.untilMs, nowMs + doubledMs(baseMs, before, maxMs))
    return before
  }
}

/** What is known of a site's calls. It is remembered while the site is silent. */
export class SiteHistory {
  /** Mean processor time of a call. */
  costMs = FIRST_COST_MS
  /** Whether any call was measured. */
  isMeasured = false
  /** None of its calls begins before. */
  heldUntilMs = 0
  #apartUntilMs = 0
  #streamedMs = 0
  #streamedSinceMs = 0
  readonly #long = new Strikes()
  readonly #losses = new Strikes()

  /** The kind of host for its calls. */
  roleAt(nowMs: number): Exclude<HostRole, 'spare' | 'load'> {
    if (this.#losses.untilMs > nowMs) return 'quarantine'
    if (this.#long.untilMs > nowMs) return 'long'
    return this.#apartUntilMs > nowMs ? 'apart' : 'ordinary'
  }

  /** `cold`: the call may have loaded its code first. */
  measured(costMs: number, { cold, nowMs }: { cold: boolean; nowMs: number }): void {
    this.isMeasured = true
    this.costMs += (costMs - this.costMs) * SMOOTHING
    if (costMs > (cold ? COLD_MS : SHORT_MS)) this.#apartUntilMs = nowMs + APART_MS
    if (costMs > MEDIUM_MS) this.#long.add(nowMs, { baseMs: APART_MS, maxMs: MAX_LONG_MS })
  }

  /** A part of a stream took so long, here or in the worker. */
  streamed(costMs: number, nowMs: number): void {
    if (nowMs - this.#streamedSinceMs > STREAMING_EVERY_MS) {
      this.#streamedSinceMs = nowMs
      this.#streamedMs = 0
    }
    this.#streamedMs += costMs
    if (this.#streamedMs > STREAMING_MS) this.#apartUntilMs = nowMs + APART_MS
  }

  /** It brought a host down. */
  quarantine(nowMs: number): void {
    const before = this.#losses.add(nowMs, { baseMs: QUARANTINE_MS, maxMs: MAX_QUARANTINE_MS })
    this.heldUntilMs = nowMs + doubledMs(HOLD_MS, before, MAX_HOLD_MS)
  }
}
