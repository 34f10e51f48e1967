import { readCpu } from '#bench/cpu-clock.ts'
import { median, quantile } from '#bench/median.ts'

/** One call; the number is different each time. */
export type Call = (index: number) => Promise<void>

/** One contender under load for a moment. */
export interface Round {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Of this process and all below it: database, dynalite, installation. */
  readonly cpuUsPerCall: number
}

/** `callers` that each send the next call when the last one is answered. A failed call fails the run. */
export async function closedLoop(call: Call, callers: number, ms: number): Promise<Round> {
  const latencies: number[] = []
  const cpuBefore = ownCpuSeconds()
  const startedAt = performance.now()
  const endsAt = startedAt + ms
  let index = 0
  const caller = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const sentAt = performance.now()
      await call(index++)
      latencies.push(performance.now() - sentAt)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  const tookMs = performance.now() - startedAt
  return {
    perSecond: (latencies.length * 1000) / tookMs,
    p50Ms: median(latencies),
    p99Ms: quantile(latencies, 0.99),
    cpuUsPerCall: ((ownCpuSeconds() - cpuBefore) * 1e6) / latencies.length,
  }
}

const ownCpuSeconds = (): number => readCpu([process.pid]).trees.get(process.pid) ?? 0
