import { invalid } from '#base/app-error.ts'

/** What one field of an expression counts. */
interface FieldRange {
  readonly first: number
  readonly last: number
  /** From `first` on, by their first three letters. */
  readonly names?: readonly string[]
}

const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')
const CLOCK_AND_MONTHS: readonly FieldRange[] = [
  { first: 0, last: 59 },
  { first: 0, last: 23 },
  { first: 1, last: 31 },
  { first: 1, last: 12, names: MONTHS },
]

/** In the order of the five fields. */
export const CRON_RANGES: readonly FieldRange[] = [
  ...CLOCK_AND_MONTHS,
  { first: 0, last: 6, names: DAYS },
]
/** AWS counts days of the week from 1. */
export const AWS_RANGES: readonly FieldRange[] = [
  ...CLOCK_AND_MONTHS,
  { first: 1, last: 7, names: DAYS },
]

/** Throws for `22-2` in one of the fields: cron refuses it, and schedulers that take it differ in what it means. */
export function refuseReversedRanges(
  fields: readonly string[],
  ranges: readonly FieldRange[],
): void {
  for (const [at, scale] of ranges.entries()) {
    for (const item of fields[at]?.split(',') ?? []) {
      const [range, from = '', to = ''] = /^(\w+)-(\w+)/.exec(item) ?? []
      const [start, end] = [numberOf(from, scale), numberOf(to, scale)]
      if (range === undefined || !(start > end)) continue
      const right = `${span(start, scale.last)},${span(scale.first, end)}`
      throw invalid('schedule.cron', `"${range}" runs backwards: write "${right}"`)
    }
  }
}

/** NaN for what is neither. */
function numberOf(word: string, { first, names = [] }: FieldRange): number {
  const at = names.indexOf(word.slice(0, 3).toUpperCase())
  return at === -1 ? Number(word) : first + at
}

const span = (from: number, to: number): string => (from === to ? `${from}` : `${from}-${to}`)
