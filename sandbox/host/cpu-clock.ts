import { availableParallelism, loadavg } from 'node:os'
import process from 'node:process'

/** Shorter stretches are taken at their wall time: asking the system costs more than it tells. */
const EXACT_FROM_MS = 2
/** So much of what ran before may be counted in. */
const SLACK_MS = 0.5
/** Stretches of so much wall time count half in the share of a processor that this thread gets. */
const HALF_WEIGHT_MS = 500
/** Then what is known of the share is of no use any more, and the machine's load says what to expect. */
const SHARE_LASTS_MS = 5000
/** Less is not taken for granted: a share that is guessed too low lets code compute longer than it may. */
const LEAST_SHARE = 1 / 16
/** A stretch waits so much longer than its processor time takes by the share, and so many milliseconds. */
const MARGIN = 1.1
const MARGIN_MS = 20
/** The longest that a stretch may wait for a processor, by what it may compute. */
export const MAX_WAIT_FACTOR = 24
/** By so much longer what ended without a verdict may wait when it is tried again. */
const PATIENCE = 3

/** Tells how much of a stretch this thread was really running, and not waiting for a processor. */
export class CpuClock {
  #lastMs = threadMs()
  #readAtMs = performance.now()
  /** Processor time in the wall time of the last stretches, the latest count most. */
  #share = expectedShare()
  #sharedAtMs = performance.now()

  /** Wall time in which this thread had no processor though it had something to run. */
  lostMs = 0

  /** Call it before a row of stretches, with the time of `performance.now()`. */
  begin(nowMs: number): void {
    if (nowMs - this.#readAtMs < SLACK_MS) return
    this.#lastMs = threadMs()
    this.#readAtMs = nowMs
  }

  /** Processor time since `begin`, or since the last stretch that was measured. */
  get usedMs(): number {
    return threadMs() - this.#lastMs
  }

  spentMs(wallMs: number): number {
    if (wallMs < EXACT_FROM_MS) return wallMs
    const nowMs = threadMs()
    const spentMs = Math.min(wallMs, nowMs - this.#lastMs)
    this.#lastMs = nowMs
    this.#readAtMs = performance.now()
    this.#noteShare(spentMs, wallMs)
    return spentMs
  }

  /** The wall time to give something that may compute so long: a busy machine needs more for it, and each further try. */
  wallMsFor(cpuMs: number, tries = 0): number {
    const nowMs = performance.now()
    if (nowMs - this.#sharedAtMs > SHARE_LASTS_MS) {
      this.#share = expectedShare()
      this.#sharedAtMs = nowMs
    }
    const wallMs =
      (cpuMs / Math.max(LEAST_SHARE, this.#share)) * MARGIN * PATIENCE ** tries + MARGIN_MS
    return Math.ceil(Math.min(wallMs, Math.max(cpuMs * MAX_WAIT_FACTOR, MARGIN_MS)))
  }

  #noteShare(spentMs: number, wallMs: number): void {
    this.lostMs += wallMs - spentMs
    const weight = 1 - 0.5 ** (wallMs / HALF_WEIGHT_MS)
    this.#share += (Math.max(spentMs / wallMs, 1 / MAX_WAIT_FACTOR) - this.#share) * weight
    this.#sharedAtMs = this.#readAtMs
  }
}

/** Twice what it were if all that wants to run had the same: much of it runs for moments only. */
const expectedShare = (): number => Math.min(1, (2 * availableParallelism()) / (loadavg()[0] ?? 0))

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
