const HOUR_MS = 3_600_000

export interface UsageHour {
  /** RFC 3339, the beginning of the hour. */
  readonly hour: string
  readonly calls: number
  readonly errors: number
  readonly cpuMs: number
}

export interface UsagePoint {
  /** The beginning of its time, in milliseconds. */
  readonly at: number
  readonly calls: number
  readonly errors: number
  readonly cpuMs: number
}

export interface Period {
  /** Milliseconds, a whole hour. */
  readonly to: number
  readonly points: number
  readonly hoursEach: number
}

export const PERIODS = {
  '24h': { points: 24, hoursEach: 1 },
  '30d': { points: 30, hoursEach: 24 },
} as const
export type PeriodName = keyof typeof PERIODS

/** The period that ends with the current hour. */
export const periodUntil = (name: PeriodName, now: number): Period => ({
  ...PERIODS[name],
  to: (Math.floor(now / HOUR_MS) + 1) * HOUR_MS,
})

export const startOf = ({ to, points, hoursEach }: Period): number =>
  to - points * hoursEach * HOUR_MS

/** The counts of all operations, one point for each part of the period. */
export function seriesOf(hours: readonly UsageHour[], period: Period): UsagePoint[] {
  const from = startOf(period)
  const sums = Array.from({ length: period.points }, (_, index) => ({
    at: from + index * period.hoursEach * HOUR_MS,
    calls: 0,
    errors: 0,
    cpuMs: 0,
  }))
  for (const { hour, calls, errors, cpuMs } of hours) {
    const index = Math.floor((Date.parse(hour) - from) / (period.hoursEach * HOUR_MS))
    const sum = sums[index]
    if (sum === undefined) continue
    sum.calls += calls
    sum.errors += errors
    sum.cpuMs += cpuMs
  }
  return sums
}
