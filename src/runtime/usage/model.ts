import { invalid } from '#base/app-error.ts'

export const HOUR_MS = 3600 * 1000
const DAY_MS = 24 * HOUR_MS
/** As many rows as one answer may carry: a month of hours for a site with dozens of busy operations. */
const MAX_RANGE_MS = 31 * DAY_MS

/** Ad-hoc code in the place of an operation's name. */
export const COMPUTE = '$compute'

export interface UsageCount {
  calls: number
  errors: number
  cacheHits: number
  cpuUs: number
  wallUs: number
}

const TOTALS = ['calls', 'errors', 'cacheHits', 'cpuMs', 'wallMs'] as const

type UsageTotals = Readonly<Record<(typeof TOTALS)[number], number>>

export interface OperationUsage extends UsageTotals {
  readonly hour: string
  readonly operation: string
}

export interface UsageRange {
  /** Inclusive, a full hour. */
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
}

export const emptyUsage = (): UsageCount => ({
  calls: 0,
  errors: 0,
  cacheHits: 0,
  cpuUs: 0,
  wallUs: 0,
})

export const hourOf = (ms: number): number => ms - (ms % HOUR_MS)

/** The last 24 hours unless said otherwise; hours are whole. */
export function usageRange(from: Date | undefined, to: Date | undefined, now: Date): UsageRange {
  const end = to ?? now
  const start = new Date(hourOf((from ?? new Date(end.getTime() - DAY_MS)).getTime()))
  if (start >= end) throw invalid('from', 'must be before "to"')
  if (end.getTime() - start.getTime() > MAX_RANGE_MS + HOUR_MS) {
    throw invalid('from', 'must be at most 31 days before "to"')
  }
  return { from: start, to: end }
}

export function totalOf(rows: readonly UsageTotals[]): UsageTotals {
  const totals = { calls: 0, errors: 0, cacheHits: 0, cpuMs: 0, wallMs: 0 }
  for (const row of rows) {
    for (const name of TOTALS) totals[name] += row[name]
  }
  return totals
}
