import type { PendingCall } from './pending-call.ts'

/** What the calls of one frame may cost, as far as is known. */
const FRAME_MS = 4
const MAX_CALLS_PER_FRAME = 256
const MAX_CHARS_PER_FRAME = 4 * 1024 * 1024

/** The calls of one frame while it is being filled. */
export class FrameDraft {
  readonly calls: PendingCall[] = []
  risky = false
  #costMs = 0
  #chars = 0

  /** Adds the call unless the frame is full for it; the first one always fits. */
  accepts(pending: PendingCall, { risky, costMs }: { risky: boolean; costMs: number }): boolean {
    const chars = pending.call.body.length
    if (this.calls.length > 0) {
      if (risky || this.risky || this.calls.length >= MAX_CALLS_PER_FRAME) return false
      if (this.#costMs + costMs > FRAME_MS || this.#chars + chars > MAX_CHARS_PER_FRAME)
        return false
    }
    this.calls.push(pending)
    this.risky = risky
    this.#costMs += costMs
    this.#chars += chars
    return true
  }
}
