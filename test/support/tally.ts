import { setTimeout as delay } from 'node:timers/promises'

/** Of each kind: how many were answered well, and the first words of those that were not. */
export class Tally {
  good = 0
  readonly bad = new Map<string, number>()
  slowestMs = 0

  async count(work: () => Promise<unknown>): Promise<void> {
    const startedMs = performance.now()
    try {
      await work()
      this.good += 1
    } catch (error) {
      const words = (error instanceof Error ? error.message : String(error))
        .replace(/,"requestId.*/, '')
        .slice(0, 200)
      this.bad.set(words, (this.bad.get(words) ?? 0) + 1)
    }
    this.slowestMs = Math.max(this.slowestMs, performance.now() - startedMs)
  }
}

/** Does it again and again, with a pause between. */
export async function until(
  ends: AbortSignal,
  pauseMs: number,
  work: () => Promise<void>,
): Promise<void> {
  while (!ends.aborted) {
    await work()
    await delay(pauseMs)
  }
}

/** Prints the figures of a run. */
export function tellTallies(figures: object): void {
  const shown = JSON.stringify(figures, (_key, value) =>
    value instanceof Map ? Object.fromEntries(value) : value,
  )
  process.stdout.write(`${shown}\n`)
}
