import { localeOf } from './language.ts'
import {
  type Localized,
  type LocalizedMessage,
  type LocalizedText,
  localized,
  t,
  textIn,
} from './message.ts'

/** "a second", "2 minutes"; a part of a unit counts as one. */
export function duration(seconds: number): LocalizedMessage {
  const whole = Math.max(1, Math.ceil(seconds))
  return whole < 90
    ? t('duration.seconds', { count: whole })
    : t('duration.minutes', { count: Math.ceil(whole / 60) })
}

const UNITS = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** "2 hours ago", "yesterday", "just now". */
export function timeAgo(then: Date, now: Date): Localized {
  const seconds = Math.max(0, Math.floor((now.getTime() - then.getTime()) / 1000))
  const unit = UNITS.find(([, length]) => seconds >= length)
  if (!unit) return t('duration.now')
  const [name, length] = unit
  return localized((language) =>
    new Intl.RelativeTimeFormat(localeOf(language), { numeric: 'auto' }).format(
      -Math.floor(seconds / length),
      name,
    ),
  )
}

/** "a, b and c"; texts of ours, or of others as they are. */
export const listed = (texts: readonly LocalizedText[]): Localized =>
  localized((language) =>
    new Intl.ListFormat(localeOf(language), { type: 'conjunction' }).format(
      texts.map((text) => textIn(text, language)),
    ),
  )
