import { setTimeout as sleep } from 'node:timers/promises'

import { quantile } from '#bench/median.ts'
import type { CallOutcome } from '#platform/sandbox-host/sandbox.ts'

export interface VictimReport {
  readonly calls: number
  readonly failures: readonly CallOutcome[]
  readonly p50Ms: number
  readonly p99Ms: number
  readonly longestMs: number
  /** Calls that took more than half a second. */
  readonly slow: number
}

const SLOW_MS = 500

/** Calls at a steady rate, whether the earlier ones have been answered or not, until `work` is done. */
export async function besideOpenLoop(
  call: () => Promise<CallOutcome>,
  callsPerSecond: number,
  work: () => Promise<unknown>,
): Promise<VictimReport> {
  const latencies: number[] = []
  const failures: CallOutcome[] = []
  const open: Promise<void>[] = []
  const measure = async (dueMs: number) => {
    const outcome = await call()
    latencies.push(performance.now() - dueMs)
    if (!outcome.ok) failures.push(outcome)
  }
  let done = false
  const calling = (async () => {
    const startedMs = performance.now()
    for (let sent = 0; !done; sent += 1) {
      const dueMs = startedMs + (sent * 1000) / callsPerSecond
      const waitMs = dueMs - performance.now()
      if (waitMs > 0) await sleep(waitMs)
      open.push(measure(Math.min(dueMs, performance.now())))
    }
  })()
  await work()
  done = true
  await calling
  await Promise.all(open)
  return {
    calls: latencies.length,
    failures,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    longestMs: quantile(latencies, 1),
    slow: latencies.filter((latencyMs) => latencyMs > SLOW_MS).length,
  }
}
