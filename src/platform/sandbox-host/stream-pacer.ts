/** Of the service's time, what parts of streams may take while other calls come. */
const SHARE = 0.3
/** So long after each of those calls: one now and then costs a stream little. */
const HELD_MS = 50
/** What is saved up for parts that come together. */
const MAX_SAVED_MS = 2
/** What the service takes to pass a part of a stream on, and each character of it. */
const PART_MS = 0.05
const CHARACTER_MS = 0.3 / (64 * 1024)

export const partCostMs = (length: number): number => PART_MS + length * CHARACTER_MS

interface PacedPart {
  readonly costMs: number
  readonly pass: () => void
}

/**
 * Bounds the time that the service spends to pass parts of streams on. While they are alone nothing waits; while calls of other
 * kinds come, those have the rest of the event loop. Sites that stream take turns.
 */
export class StreamPacer {
  /** The site whose turn it is first. */
  readonly #waiting = new Map<string, PacedPart[]>()
  #timer: NodeJS.Timeout | undefined
  #heldUntilMs = -Infinity
  #refilledMs = 0
  #leftMs = MAX_SAVED_MS

  stop(): void {
    clearTimeout(this.#timer)
    this.#waiting.clear()
  }

  /** A call begins whose site streams nothing. */
  otherCallBegan(nowMs: number): void {
    if (this.#heldUntilMs < nowMs) {
      this.#leftMs = MAX_SAVED_MS
      this.#refilledMs = nowMs
    }
    this.#heldUntilMs = nowMs + HELD_MS
  }

  /** Passes the part on: at once, or when its turn has come. */
  pace(siteKey: string, part: PacedPart): void {
    if (this.#waiting.size === 0 && this.#mayPass(performance.now())) {
      this.#pass(part)
      return
    }
    const parts = this.#waiting.get(siteKey)
    if (parts) parts.push(part)
    else this.#waiting.set(siteKey, [part])
    this.#timer ??= setTimeout(() => this.#release(), this.#waitMs())
  }

  #release(): void {
    this.#timer = undefined
    const nowMs = performance.now()
    // What is set again comes last: the loop goes round.
    for (const [siteKey, parts] of this.#waiting) {
      if (!this.#mayPass(nowMs)) break
      const part = parts.shift()
      this.#waiting.delete(siteKey)
      if (parts.length > 0) this.#waiting.set(siteKey, parts)
      if (part) this.#pass(part)
    }
    if (this.#waiting.size > 0) this.#timer = setTimeout(() => this.#release(), this.#waitMs())
  }

  #pass({ costMs, pass }: PacedPart): void {
    this.#leftMs -= costMs
    pass()
  }

  #mayPass(nowMs: number): boolean {
    if (this.#heldUntilMs < nowMs) return true
    const refilled = this.#leftMs + Math.max(0, nowMs - this.#refilledMs) * SHARE
    this.#leftMs = Math.min(MAX_SAVED_MS, refilled)
    this.#refilledMs = nowMs
    return this.#leftMs > 0
  }

  /** Until something is left; a timer is not exact to less than a millisecond. */
  #waitMs(): number {
    return Math.max(1, -this.#leftMs / SHARE)
  }
}
