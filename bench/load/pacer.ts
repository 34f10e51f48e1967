/** Decides when requests are due. Times are milliseconds of one monotonic clock. */
export interface Pacer {
  /** Claims the next request: when it was meant to be sent, or undefined when none is due yet. */
  take(nowMs: number): number | undefined
  /** When to ask again although no answer came; undefined when only an answer makes the next one due. */
  nextDueMs(): number | undefined
  /** Requests that are due by then and still unclaimed: those that the server left no connection for. */
  overdue(nowMs: number): number
}

export interface PaceWindow {
  readonly startMs: number
  readonly lengthMs: number
}

/** As fast as the connections are answered. */
export function closedLoop({ startMs, lengthMs }: PaceWindow): Pacer {
  return {
    take: (nowMs) => (nowMs >= startMs && nowMs < startMs + lengthMs ? nowMs : undefined),
    nextDueMs: () => undefined,
    overdue: () => 0,
  }
}

/**
 * At a steady rate whatever the answers do. A request that finds every connection busy keeps its intended time,
 * so that the wait counts as latency: no coordinated omission.
 */
export function openLoop({ startMs, lengthMs }: PaceWindow, ratePerSecond: number): Pacer {
  const intervalMs = 1000 / ratePerSecond
  const total = Math.ceil((lengthMs * ratePerSecond) / 1000)
  let taken = 0
  const intendedMs = (index: number) => startMs + index * intervalMs

  return {
    take(nowMs) {
      if (taken >= total || intendedMs(taken) > nowMs) return undefined
      taken += 1
      return intendedMs(taken - 1)
    },
    nextDueMs: () => (taken < total ? intendedMs(taken) : undefined),
    overdue(nowMs) {
      // The division may round to a neighbour of the last one whose time has come, by which `take` goes.
      const near = Math.floor((nowMs - startMs) / intervalMs)
      const last = [near + 1, near].find((index) => intendedMs(index) <= nowMs) ?? near - 1
      return Math.max(0, Math.min(total, last + 1) - taken)
    },
  }
}
