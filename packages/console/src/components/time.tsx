import type { JSX } from 'preact'

import { localeOf } from '#app/texts/languages.ts'
import { currentLanguage } from '#app/texts/texts.ts'

const STEPS = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
  ['month', 12],
  ['year', Infinity],
] as const satisfies readonly (readonly [Intl.RelativeTimeFormatUnit, number])[]

export interface TimeProps {
  /** RFC 3339. */
  readonly at: string
  /** Writes date and time in place of the distance. */
  readonly isAbsolute?: boolean
}

/** A time in the reader's zone: its distance from now, and the exact time on hovering. */
export function Time({ at, isAbsolute = false }: TimeProps): JSX.Element {
  const time = new Date(at)
  const exact = exactTime(time)
  return (
    <time dateTime={at} title={exact}>
      {isAbsolute ? exact : timeFromNow(time, new Date())}
    </time>
  )
}

/** `3 minutes ago`, `in 2 hours`. */
function timeFromNow(time: Date, now: Date): string {
  const format = new Intl.RelativeTimeFormat(localeOf(currentLanguage()), {
    numeric: 'auto',
    style: 'short',
  })
  let distance = (time.getTime() - now.getTime()) / 1000
  for (const [unit, size] of STEPS) {
    if (Math.abs(distance) < size) return format.format(Math.round(distance), unit)
    distance /= size
  }
  return exactTime(time)
}

/** `27 Nov 2026, 12:00:05 CET` */
export const exactTime = (time: Date): string =>
  new Intl.DateTimeFormat(localeOf(currentLanguage()), {
    dateStyle: 'medium',
    timeStyle: 'long',
  }).format(time)
