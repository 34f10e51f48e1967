import process from 'node:process'

/** Shorter stretches are taken at their wall time: asking the system costs more than it tells. */
const EXACT_FROM_MS = 2

/** Tells how much of a stretch this thread was really running, and not waiting for a processor. */
export class CpuClock {
  #lastMs = threadMs()

  /** Call it before a row of stretches. */
  begin(): void {
    this.#lastMs = threadMs()
  }

  spentMs(wallMs: number): number {
    if (wallMs < EXACT_FROM_MS) return wallMs
    const nowMs = threadMs()
    const spentMs = nowMs - this.#lastMs
    this.#lastMs = nowMs
    return Math.min(wallMs, spentMs)
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
