import { localeOf } from '#app/texts/languages.ts'
import { currentLanguage } from '#app/texts/texts.ts'

/** In a list: the time of today, the day of this year, the date of earlier years. */
export function listTime(at: string, now: Date): string {
  const time = new Date(at)
  const isToday = time.toDateString() === now.toDateString()
  const isThisYear = time.getFullYear() === now.getFullYear()
  const options: Intl.DateTimeFormatOptions = isToday
    ? { timeStyle: 'short' }
    : isThisYear
      ? { day: 'numeric', month: 'short' }
      : { dateStyle: 'short' }
  return new Intl.DateTimeFormat(localeOf(currentLanguage()), options).format(time)
}

export const sizeText = (bytes: number): string => {
  const [value, unit] =
    bytes < 1000
      ? [bytes, 'byte']
      : bytes < 1e6
        ? [bytes / 1000, 'kilobyte']
        : [bytes / 1e6, 'megabyte']
  return new Intl.NumberFormat(localeOf(currentLanguage()), {
    style: 'unit',
    unit: String(unit),
    unitDisplay: 'short',
    maximumFractionDigits: Number(value) < 10 ? 1 : 0,
  }).format(Number(value))
}
