import { localeOf } from '#app/texts/languages.ts'
import { currentLanguage } from '#app/texts/texts.ts'

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** `1,234`, and `1.2M` from a hundred thousand on. */
export const shortNumber = (value: number): string =>
  new Intl.NumberFormat(localeOf(currentLanguage()), {
    ...(value >= 100_000 && { notation: 'compact' }),
    maximumFractionDigits: 1,
  }).format(value)

/** `1.5 MB`, in powers of 1,024 as the limits of a site are. */
export function bytesText(bytes: number): string {
  let value = bytes
  let at = 0
  while (value >= 1024 && at < UNITS.length - 1) {
    value /= 1024
    at++
  }
  return new Intl.NumberFormat(localeOf(currentLanguage()), {
    style: 'unit',
    unit: UNITS[at] ?? 'byte',
    unitDisplay: 'short',
    maximumFractionDigits: value < 10 ? 1 : 0,
  }).format(value)
}

/** `85 ms`, `1.2 s`, `3.4 min`. */
export function millisecondsText(ms: number): string {
  const [value, unit] =
    ms < 1000
      ? ([ms, 'millisecond'] as const)
      : ms < 60_000
        ? ([ms / 1000, 'second'] as const)
        : ([ms / 60_000, 'minute'] as const)
  return new Intl.NumberFormat(localeOf(currentLanguage()), {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    maximumFractionDigits: value < 10 ? 1 : 0,
  }).format(value)
}
