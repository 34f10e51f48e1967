import { validateDetailed } from 'node-cron'

import { invalid } from '#base/app-error.ts'

import { CRON_RANGES, refuseReversedRanges } from './ranges.ts'

/** The values of the five fields of a cron expression. */
export interface CronFields {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly daysOfMonth: ReadonlySet<number>
  /** 1 to 12. */
  readonly months: ReadonlySet<number>
  /** 0 is Sunday. */
  readonly daysOfWeek: ReadonlySet<number>
  /** Both days are restricted: then one of them suffices, as cron has it. */
  readonly eitherDay: boolean
  /** Minute or hour is open (starts with `*`): it follows the passing of time and not the digits of the clock. */
  readonly byInterval: boolean
}

const FIELD = 'schedule.cron'
/** Letters that stand for days or months; anything else with a letter is an extension of some other scheduler. */
const NAMES =
  /\b(?:SUN|MON|TUE|WED|THU|FRI|SAT|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)[A-Z]*/gi
const EXTENSION = /[A-Z#?]/i
/** No field counts further than two digits, and a range is written out by node-cron before it looks. */
const TOO_LARGE = /\d{3,}/

/** Five fields: minute, hour, day of month, month, day of week. */
export function parseCronFields(expression: string): CronFields {
  const parts = expression.trim().split(/\s+/)
  const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = parts
  if (parts.length !== 5) throw wrongCount(parts.length)
  checkText(expression)
  refuseReversedRanges(parts, CRON_RANGES)
  // Each day on its own: together node-cron would ask for both.
  const byMonthDay = parse(`${minute} ${hour} ${dayOfMonth} * *`)
  const byWeekDay = parse(`${minute} ${hour} * ${month} ${dayOfWeek}`)
  return {
    minutes: inOrder(byMonthDay.minute),
    hours: inOrder(byMonthDay.hour),
    daysOfMonth: new Set(byMonthDay.dayOfMonth.map(Number)),
    months: new Set(byWeekDay.month),
    daysOfWeek: new Set(byWeekDay.dayOfWeek.map(Number)),
    eitherDay: !isOpen(dayOfMonth) && !isOpen(dayOfWeek),
    byInterval: isOpen(minute) || isOpen(hour),
  }
}

function checkText(expression: string): void {
  const strange = EXTENSION.exec(expression.replaceAll(NAMES, ''))
  if (strange) {
    throw invalid(FIELD, `"${strange[0]}" is not cron: use numbers, names, "*", ",", "-" and "/"`)
  }
  const large = TOO_LARGE.exec(expression)
  if (large) throw invalid(FIELD, `"${large[0]}" is larger than any minute, hour, day or month`)
}

const isOpen = (field: string): boolean => field.startsWith('*')

const inOrder = (values: readonly number[]): number[] => [...values].toSorted((a, b) => a - b)

function parse(expression: string) {
  const { valid, fields, errors } = validateDetailed(expression)
  if (valid && fields) return fields
  const [fault] = errors
  const name = (fault?.field ?? 'expression').replaceAll(
    /[A-Z]/g,
    (letter) => ` ${letter.toLowerCase()}`,
  )
  throw invalid(FIELD, `"${fault?.value ?? expression}" is not a valid ${name}`)
}

function wrongCount(count: number) {
  const words =
    count === 6
      ? 'has 6 fields: the finest schedule is one minute, leave out the field for seconds'
      : `has ${count} ${count === 1 ? 'field' : 'fields'}: write minute, hour, day of month, month and day of week, as in "30 2 * * MON-FRI"`
  return invalid(FIELD, words)
}
