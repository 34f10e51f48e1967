import { invalid } from '#base/app-error.ts'

import { fromAwsCron } from './aws-cron.ts'
import { type CronFields, parseCronFields } from './fields.ts'
import { type TimeZone, timeZone } from './time-zone.ts'

const MAX_LENGTH = 256
const MINUTE_MS = 60_000
const UNIT_MS = { minute: MINUTE_MS, hour: 60 * MINUTE_MS, day: 24 * 60 * MINUTE_MS } as const
const MAX_RATE_MS = 366 * UNIT_MS.day
const RATE = /^rate\(\s*(\d{1,9})\s+(minute|hour|day)(s?)\s*\)$/
const DEFAULT_ZONE = 'UTC'

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
