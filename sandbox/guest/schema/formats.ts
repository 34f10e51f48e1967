import { execPattern, testPattern } from '#sandbox/guest/web/primordials.ts'
import type { SchemaFormat } from '#sandbox/protocol/compiled-schema.ts'

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/u
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/u
const DATE_TIME = /^(\d{4}-\d\d-\d\d)[Tt](.+)$/u
const EMAIL =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/iu
const URI = /^[a-z][a-z0-9+.-]*:(?:[a-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9a-f]{2})*$/iu
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/iu
const MAX_EMAIL_LENGTH = 320
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const DAY_MINUTES = 24 * 60

/** None of the patterns tries a text in more than one way. */
const FORMATS: { readonly [Name in SchemaFormat]: (text: string) => boolean } = {
  date: isDate,
  'date-time': isDateTime,
  email: (text) => text.length <= MAX_EMAIL_LENGTH && testPattern(EMAIL, text),
  time: isTime,
  uri: (text) => testPattern(URI, text),
  uuid: (text) => testPattern(UUID, text),
}

export const hasFormat = (format: SchemaFormat, text: string): boolean => FORMATS[format](text)

/** RFC 3339, `full-date`. */
function isDate(text: string): boolean {
  const match = execPattern(DATE, text)
  if (!match) return false
  const year = numberAt(match, 1)
  const month = numberAt(match, 2)
  const day = numberAt(match, 3)
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 && isLeap ? 29 : DAYS[month - 1]
  return days !== undefined && day >= 1 && day <= days
}

/** RFC 3339, `full-time`: a leap second is one at 23:59:60 UTC only. */
function isTime(text: string): boolean {
  const match = execPattern(TIME, text)
  if (!match) return false
  const hour = numberAt(match, 1)
  const minute = numberAt(match, 2)
  const second = numberAt(match, 3)
  const offsetHour = numberAt(match, 5)
  const offsetMinute = numberAt(match, 6)
  if (hour > 23 || minute > 59 || offsetHour > 23 || offsetMinute > 59) return false
  if (second < 60) return true
  const sign = match[4] === '-' ? -1 : 1
  const utc = hour * 60 + minute - sign * (offsetHour * 60 + offsetMinute)
  return second === 60 && (utc + 2 * DAY_MINUTES) % DAY_MINUTES === DAY_MINUTES - 1
}

function isDateTime(text: string): boolean {
  const match = execPattern(DATE_TIME, text)
  return match !== null && isDate(match[1] as string) && isTime(match[2] as string)
}

/** 0 for a group that is not there. */
const numberAt = (match: RegExpExecArray, group: number): number => +(match[group] ?? 0)
