import { invalid } from '#base/app-error.ts'

import { type CronFields, parseCronFields } from './fields.ts'
import { AWS_RANGES, refuseReversedRanges } from './ranges.ts'
import { type TimeZone, timeZone } from './time-zone.ts'

const MAX_LENGTH = 256
const MINUTE_MS = 60_000
const UNIT_MS = { minute: MINUTE_MS, hour: 60 * MINUTE_MS, day: 24 * 60 * MINUTE_MS } as const
const MAX_RATE_MS = 366 * UNIT_MS.day
const RATE = /^rate\(\s*(\d{1,9})\s+(minute|hour|day)(s?)\s*\)$/
const DEFAULT_ZONE = 'UTC'

const FIELD = 'schedule.cron'

/** When a job runs, as a person writes it. */
export interface ScheduleText {
  /** Five fields of cron, `rate(5 minutes)`, or AWS's `cron(0 12 * * ? *)`. */
  readonly cron: string
  /** IANA name; UTC when left out. Not for a rate. */
  readonly timezone?: string
}

/** A schedule that ticks can be computed from. */
export type Schedule =
  | { readonly kind: 'rate'; readonly everyMs: number }
  | { readonly kind: 'cron'; readonly fields: CronFields; readonly zone: TimeZone }

/** Throws a `ValidationError` that says what is wrong with it. */
export function parseSchedule({ cron, timezone }: ScheduleText): Schedule {
  const text = cron.trim()
  if (text.length > MAX_LENGTH) {
    throw invalid('schedule.cron', `must be at most ${MAX_LENGTH} characters`)
  }
  if (text.startsWith('rate(')) return parseRate(text, timezone)
  if (text.startsWith('@')) {
    throw invalid('schedule.cron', `"${text}" is not served: write five fields, as in "0 0 * * *"`)
  }
  const inside = /^cron\((.*)\)$/.exec(text)?.[1]
  const fields = parseCronFields(inside === undefined ? text : fromAwsCron(inside))
  return { kind: 'cron', fields, zone: zoneOf(timezone ?? DEFAULT_ZONE) }
}

function parseRate(text: string, timezone: string | undefined): Schedule {
  if (timezone !== undefined) {
    throw invalid('schedule.timezone', 'has no meaning for a rate: leave it out')
  }
  const [count, unit, plural] = RATE.exec(text)?.slice(1) ?? []
  if (unit === undefined || !isUnit(unit) || !(Number(count) >= 1)) {
    throw invalid(
      'schedule.cron',
      'a rate is written as "rate(5 minutes)", "rate(1 hour)" or "rate(2 days)"',
    )
  }
  const right = Number(count) === 1 ? '' : 's'
  if (plural !== right) throw invalid('schedule.cron', `write "rate(${count} ${unit}${right})"`)
  const everyMs = Number(count) * UNIT_MS[unit]
  if (everyMs > MAX_RATE_MS) throw invalid('schedule.cron', 'a rate is at most 366 days')
  return { kind: 'rate', everyMs }
}

const isUnit = (word: string): word is keyof typeof UNIT_MS => Object.hasOwn(UNIT_MS, word)

function zoneOf(name: string): TimeZone {
  const zone = timeZone(name)
  if (zone) return zone
  throw invalid('schedule.timezone', `"${name}" is not an IANA time zone such as "Europe/Berlin"`)
}

/**
 * The five fields of what AWS writes as `cron(minute hour day-of-month month day-of-week year)`. Its days of the week count
 * from 1 for Sunday, one of the two days is "?", and `5/15` starts at 5. Years and the letters L, W and # are refused.
 */
export function fromAwsCron(inside: string): string {
  const parts = inside.trim().split(/\s+/)
  const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = '', year = ''] = parts
  if (parts.length !== 6) {
    throw invalid(
      FIELD,
      `cron(…) has ${parts.length} fields: write minute, hour, day of month, month, day of week and year, as in "cron(0 12 * * ? *)"`,
    )
  }
  if (year !== '*') throw invalid(FIELD, `the year "${year}" of cron(…) is not served: write "*"`)
  if ((dayOfMonth === '?') === (dayOfWeek === '?')) {
    throw invalid(FIELD, 'cron(…) takes "?" for exactly one of day of month and day of week')
  }
  refuseReversedRanges([minute, hour, dayOfMonth, month, dayOfWeek], AWS_RANGES)
  return [
    openEnded(minute, LAST.minute),
    openEnded(hour, LAST.hour),
    openEnded(dayOfMonth.replace('?', '*'), LAST.dayOfMonth),
    openEnded(month, LAST.month),
    sundayFirst(openEnded(dayOfWeek.replace('?', '*'), LAST.dayOfWeek)),
  ].join(' ')
}

/** `5/15` is `5-59/15`. */
const openEnded = (field: string, last: number): string =>
  field.replaceAll(/(^|,)(\d+)\//g, `$1$2-${last}/`)

/** 1 to 7 become 0 to 6; steps stay what they are. */
const sundayFirst = (field: string): string =>
  field
    .split(',')
    .map((item) => {
      const [days = '', step] = item.split('/')
      const shifted = days.replaceAll(/\d+/g, dayOfWeek)
      return step === undefined ? shifted : `${shifted}/${step}`
    })
    .join(',')

function dayOfWeek(digits: string): string {
  const day = Number(digits)
  if (day < 1 || day > 7) {
    throw invalid(
      FIELD,
      `"${digits}" is not a day of the week: cron(…) counts from 1 for Sunday to 7`,
    )
  }
  return String(day - 1)
}

/** Where steps of the form `5/15` end. */
const LAST = { minute: 59, hour: 23, dayOfMonth: 31, month: 12, dayOfWeek: 7 } as const
