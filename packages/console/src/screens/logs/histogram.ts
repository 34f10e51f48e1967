import type { LogLine } from './log-filter.ts'

/** At most. */
const BARS = 60
/** Few bars would be too wide: the time before the first line has bars, too. */
const LEAST_BARS = 24
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const STEPS_MS = [
  SECOND,
  5 * SECOND,
  15 * SECOND,
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
]

export interface Bar {
  /** In milliseconds since 1970. */
  readonly from: number
  /** Exclusive. */
  readonly to: number
  readonly error: number
  readonly warn: number
  /** info and debug */
  readonly other: number
}

export interface Histogram {
  readonly bars: readonly Bar[]
  /** The number of lines of the highest bar. */
  readonly highest: number
  readonly error: number
  readonly warn: number
  readonly other: number
}

/** Counts lines over the time up to the newest of them, in bars of a round length. */
export function histogramOf(lines: readonly LogLine[]): Histogram {
  const times = lines.map(({ at }) => Date.parse(at))
  const first = times.reduce((least, time) => Math.min(least, time), Infinity)
  const last = times.reduce((most, time) => Math.max(most, time), -Infinity)
  if (lines.length === 0) return { bars: [], highest: 0, error: 0, warn: 0, other: 0 }
  const step = stepOf(last - first)
  const end = Math.floor(last / step)
  const count = Math.max(LEAST_BARS, end - Math.floor(first / step) + 1)
  const start = (end - count + 1) * step
  const bars = Array.from({ length: count }, (_, index) => ({
    from: start + index * step,
    to: start + (index + 1) * step,
    error: 0,
    warn: 0,
    other: 0,
  }))
  const sums = { error: 0, warn: 0, other: 0 }
  for (const [index, line] of lines.entries()) {
    const kind = kindOf(line)
    const bar = bars[Math.floor(((times[index] ?? start) - start) / step)]
    if (bar) bar[kind]++
    sums[kind]++
  }
  const highest = Math.max(...bars.map(({ error, warn, other }) => error + warn + other))
  return { bars, highest, ...sums }
}

const kindOf = ({ level }: LogLine): 'error' | 'warn' | 'other' =>
  level === 'error' || level === 'warn' ? level : 'other'

function stepOf(spanMs: number): number {
  const found = STEPS_MS.find((step) => spanMs / step < BARS - 1)
  if (found !== undefined) return found
  const day = 24 * HOUR
  return Math.ceil(spanMs / day / (BARS - 1)) * day
}
