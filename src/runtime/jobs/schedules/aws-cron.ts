import { invalid } from '#base/app-error.ts'

import { AWS_RANGES, refuseReversedRanges } from './ranges.ts'

const FIELD = 'schedule.cron'
/** Where steps of the form `5/15` end. */
const LAST = { minute: 59, hour: 23, dayOfMonth: 31, month: 12, dayOfWeek: 7 } as const

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
