import type { CronFields } from './fields.ts'
import type { Schedule } from './schedule.ts'
import { type DayClock, type TimeZone, instantsOf } from './time-zone.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** The rarest date that cron can name, a 29 February on one weekday, comes back within forty years. */
const HORIZON_DAYS = 41 * 366
/** Missed ticks further back than this are not counted. */
const COUNTED_MS = 31 * DAY_MS

/** What is due at a moment, and what comes next. */
export interface DueTicks {
  /** The last tick that is due. */
  readonly last: number
  /** How many due ticks were before it. */
  readonly missed: number
  /** Undefined when the schedule has no further tick. */
  readonly next: number | undefined
}

/** The first tick after a moment. `since` is where a rate starts to count. Undefined when there is none. */
export const nextTick = (schedule: Schedule, after: number, since: number): number | undefined =>
  ticksAfter(schedule, after, since).next().value ?? undefined

/** Makes one of all ticks from `due` to `now`; those of more than 31 days ago are not counted. */
export function coalesce(
  schedule: Schedule,
  at: { readonly due: number; readonly now: number; readonly since: number },
): DueTicks {
  const { due, now, since } = at
  let [last, missed] = [due, 0]
  for (const tick of ticksAfter(schedule, Math.max(due, now - COUNTED_MS), since)) {
    if (tick > now) return { last, missed, next: tick }
    last = tick
    missed += 1
  }
  return { last, missed, next: undefined }
}

function ticksAfter(schedule: Schedule, after: number, since: number): Generator<number> {
  return schedule.kind === 'rate'
    ? rateTicks(schedule.everyMs, after, since)
    : cronTicks(schedule.fields, schedule.zone, after)
}

/** Ticks on whole minutes. */
function* rateTicks(everyMs: number, after: number, since: number): Generator<number> {
  const start = Math.floor(since / MINUTE_MS) * MINUTE_MS
  const passed = Math.max(0, Math.floor((after - start) / everyMs))
  for (let count = passed + 1; ; count += 1) yield start + count * everyMs
}

/** Day by day. The ticks of days around a change of clocks wait for each other: they overlap when clocks go back over midnight. */
function* cronTicks(fields: CronFields, zone: TimeZone, after: number): Generator<number> {
  const today = Math.floor(zone.localTime(after) / DAY_MS) * DAY_MS
  let waiting: number[] = []
  for (let day = -1; day <= HORIZON_DAYS; day += 1) {
    const midnight = today + day * DAY_MS
    const matches = matchesDay(fields, midnight)
    if (!matches && waiting.length === 0) continue
    const clock = zone.dayClock(midnight)
    if (midnight + DAY_MS - Math.min(clock.beforeMs, clock.afterMs) <= after) continue
    if (clock.changesAt !== Infinity) {
      if (matches) waiting = waiting.concat(dayTicks(fields, midnight, clock))
      continue
    }
    yield* inOrder(waiting, after)
    waiting = []
    if (matches) yield* plainTicks(fields, midnight - clock.beforeMs, after)
  }
}

const inOrder = (ticks: readonly number[], after: number): number[] =>
  [...new Set(ticks)].filter((tick) => tick > after).toSorted((a, b) => a - b)

/** Yields the ticks of a day that starts at that moment and has 24 hours. */
function* plainTicks(fields: CronFields, start: number, after: number): Generator<number> {
  for (const hour of fields.hours) {
    const from = start + hour * HOUR_MS
    if (from + HOUR_MS <= after) continue
    for (const minute of fields.minutes) {
      const tick = from + minute * MINUTE_MS
      if (tick > after) yield tick
    }
  }
}

function dayTicks(fields: CronFields, midnight: number, clock: DayClock): number[] {
  return fields.hours.flatMap((hour) =>
    fields.minutes.flatMap((minute) => {
      const local = midnight + (hour * 60 + minute) * MINUTE_MS
      return fields.byInterval ? instantsOf(local, clock) : [onceAt(local, clock)]
    }),
  )
}

/** A time of day comes once a day: the first of two, and right after the hour that is left out. */
const onceAt = (local: number, clock: DayClock): number =>
  instantsOf(local, clock)[0] ?? clock.changesAt

function matchesDay(fields: CronFields, midnight: number): boolean {
  const date = new Date(midnight)
  if (!fields.months.has(date.getUTCMonth() + 1)) return false
  const byMonth = fields.daysOfMonth.has(date.getUTCDate())
  const byWeek = fields.daysOfWeek.has(date.getUTCDay())
  return fields.eitherDay ? byMonth || byWeek : byMonth && byWeek
}
