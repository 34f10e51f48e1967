import process from 'node:process'

/** Shorter stretches are taken at their wall time: asking the system costs more than it tells. */
const EXACT_FROM_MS = 2
/** So much of what ran before may be counted in. */
const SLACK_MS = 0.5

/** Tells how much of a stretch this thread was really running, and not waiting for a processor. */
export class CpuClock {
  #lastMs = threadMs()
  #readAtMs = performance.now()

  /** Call it before a row of stretches, with the time of `performance.now()`. */
  begin(nowMs: number): void {
    if (nowMs - this.#readAtMs < SLACK_MS) return
    this.#lastMs = threadMs()
    this.#readAtMs = nowMs
  }

  spentMs(wallMs: number): number {
    if (wallMs < EXACT_FROM_MS) return wallMs
    const nowMs = threadMs()
    const spentMs = nowMs - this.#lastMs
    this.#lastMs = nowMs
    this.#readAtMs = performance.now()
    return Math.min(wallMs, spentMs)
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
