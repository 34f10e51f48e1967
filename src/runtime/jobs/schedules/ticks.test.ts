import fc from 'fast-check'
import { createTask } from 'node-cron'
import { afterEach, describe, expect, test, vi } from 'vitest'

import { parseCronFields } from './fields.ts'
import { type ScheduleText, parseSchedule } from './schedule.ts'
import { coalesce, nextTick } from './ticks.ts'

afterEach(() => {
  vi.useRealTimers()
})

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

function nextRuns(schedule: ScheduleText, from: string, count: number): string[] {
  const parsed = parseSchedule(schedule)
  const runs: string[] = []
  for (let after = Date.parse(from); runs.length < count;) {
    const next = nextTick(parsed, after, Date.parse(from))
    if (next === undefined) break
    runs.push(new Date(next).toISOString().replace(':00.000Z', 'Z'))
    after = next
  }
  return runs
}

describe('a cron schedule', () => {
  test.each<[string, string, string[]]>([
    [
      '*/15 * * * *',
      '2026-03-01T10:07Z',
      ['2026-03-01T10:15Z', '2026-03-01T10:30Z', '2026-03-01T10:45Z', '2026-03-01T11:00Z'],
    ],
    ['0 9 * * MON-FRI', '2026-03-06T09:00Z', ['2026-03-09T09:00Z', '2026-03-10T09:00Z']],
    ['0 9 * JAN,jul *', '2026-01-31T08:00Z', ['2026-01-31T09:00Z', '2026-07-01T09:00Z']],
    ['30 4 * * 7', '2026-03-01T04:30Z', ['2026-03-08T04:30Z', '2026-03-15T04:30Z']],
    ['30 4 * * 0', '2026-03-01T04:29Z', ['2026-03-01T04:30Z', '2026-03-08T04:30Z']],
    [
      '0 0 31 * *',
      '2026-01-31T00:00Z',
      ['2026-03-31T00:00Z', '2026-05-31T00:00Z', '2026-07-31T00:00Z', '2026-08-31T00:00Z'],
    ],
    ['0 0 29 2 *', '2026-03-01T00:00Z', ['2028-02-29T00:00Z', '2032-02-29T00:00Z']],
    ['0 0 29 2 *', '2096-03-01T00:00Z', ['2104-02-29T00:00Z']],
    [
      '5-50/20 0-6/3 * * *',
      '2026-03-01T00:00Z',
      ['2026-03-01T00:05Z', '2026-03-01T00:25Z', '2026-03-01T00:45Z', '2026-03-01T03:05Z'],
    ],
    ['59 23 31 12 *', '2026-12-31T23:59Z', ['2027-12-31T23:59Z']],
  ])('%s after %s', (cron, from, runs) => {
    expect(nextRuns({ cron }, from, runs.length)).toEqual(runs)
  })

  test.each<[string, string, string[]]>([
    // Both days restricted: each of them.
    [
      '0 0 13 * 5',
      '2026-02-10T00:00Z',
      [
        '2026-02-13T00:00Z',
        '2026-02-20T00:00Z',
        '2026-02-27T00:00Z',
        '2026-03-06T00:00Z',
        '2026-03-13T00:00Z',
      ],
    ],
    [
      '0 0 1,15 * MON',
      '2026-06-14T00:00Z',
      ['2026-06-15T00:00Z', '2026-06-22T00:00Z', '2026-06-29T00:00Z', '2026-07-01T00:00Z'],
    ],
    ['0 0 30 2 MON', '2026-02-20T00:00Z', ['2026-02-23T00:00Z', '2027-02-01T00:00Z']],
    // One of them starts with "*": both must hold.
    [
      '0 0 */2 * MON',
      '2026-06-01T00:00Z',
      ['2026-06-15T00:00Z', '2026-06-29T00:00Z', '2026-07-13T00:00Z'],
    ],
    ['0 0 13 * *', '2026-02-14T00:00Z', ['2026-03-13T00:00Z']],
    ['0 0 * * 5', '2026-02-14T00:00Z', ['2026-02-20T00:00Z']],
  ])('with two kinds of days: %s after %s', (cron, from, runs) => {
    expect(nextRuns({ cron }, from, runs.length)).toEqual(runs)
  })

  test.each<[string, string, string, string[]]>([
    // Berlin leaves out 02:00–03:00 on 29 March 2026, at 01:00Z, and has it twice on 25 October, until 01:00Z.
    [
      '30 2 * * *',
      'Europe/Berlin',
      '2026-03-28T00:00Z',
      ['2026-03-28T01:30Z', '2026-03-29T01:00Z', '2026-03-30T00:30Z'],
    ],
    [
      '30 2 * * *',
      'Europe/Berlin',
      '2026-10-24T12:00Z',
      ['2026-10-25T00:30Z', '2026-10-26T01:30Z'],
    ],
    [
      '0,30 2,3 * * *',
      'Europe/Berlin',
      '2026-03-29T00:00Z',
      ['2026-03-29T01:00Z', '2026-03-29T01:30Z', '2026-03-30T00:00Z'],
    ],
    ['0 3 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', ['2026-03-29T01:00Z', '2026-03-30T01:00Z']],
    // What is open goes on through both.
    [
      '30 * * * *',
      'Europe/Berlin',
      '2026-03-28T23:45Z',
      ['2026-03-29T00:30Z', '2026-03-29T01:30Z', '2026-03-29T02:30Z'],
    ],
    [
      '30 * * * *',
      'Europe/Berlin',
      '2026-10-24T23:45Z',
      ['2026-10-25T00:30Z', '2026-10-25T01:30Z', '2026-10-25T02:30Z'],
    ],
    [
      '*/20 2 * * *',
      'Europe/Berlin',
      '2026-10-25T00:00Z',
      [
        '2026-10-25T00:20Z',
        '2026-10-25T00:40Z',
        '2026-10-25T01:00Z',
        '2026-10-25T01:20Z',
        '2026-10-25T01:40Z',
        '2026-10-26T01:00Z',
      ],
    ],
    [
      '30 2 * * *',
      'America/New_York',
      '2026-03-08T00:00Z',
      ['2026-03-08T07:00Z', '2026-03-09T06:30Z'],
    ],
    [
      '30 1 * * *',
      'America/New_York',
      '2026-11-01T00:00Z',
      ['2026-11-01T05:30Z', '2026-11-02T06:30Z'],
    ],
    // Clocks of Cairo jump from 00:00 to 01:00 on 24 April 2026, those of Lord Howe by half an hour on 4 October.
    ['15 0 * * *', 'Africa/Cairo', '2026-04-23T12:00Z', ['2026-04-23T22:00Z', '2026-04-24T21:15Z']],
    [
      '10 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-03T00:00Z',
      ['2026-10-03T15:30Z', '2026-10-04T15:10Z'],
    ],
    ['45 5 * * *', 'Asia/Kathmandu', '2026-01-01T00:00Z', ['2026-01-02T00:00Z']],
  ])('%s in %s after %s', (cron, timezone, from, runs) => {
    expect(nextRuns({ cron, timezone }, from, runs.length)).toEqual(runs)
  })

  test('agrees with node-cron where it asks for one kind of day and no clock is changed', () => {
    const expression = fc.tuple(
      minutes,
      hours,
      fc.constantFrom(['*', '*'], ['1', '*'], ['*/7', '*'], ['*', '1-5'], ['*', '6']),
      fc.constantFrom('*', '3,9', '*/5'),
    )
    fc.assert(
      fc.property(expression, SOME_MINUTE, ([minute, hour, [day, weekday], month], from) => {
        vi.useFakeTimers({ now: from, toFake: ['Date'] })
        const cron = `${minute} ${hour} ${day} ${month} ${weekday}`
        const task = createTask(cron, () => {}, { timezone: 'UTC' })
        const theirs = task.getNextRuns(5).map((at) => at.toISOString())
        void task.destroy()
        expect(nextRuns({ cron }, new Date(from).toISOString(), 5)).toEqual(
          theirs.map((at) => at.replace(':00.000Z', 'Z')),
        )
      }),
      { numRuns: 200 },
    )
  }, 60_000)
})

const value = (max: number, min = 0) => fc.integer({ min, max })
const list = (max: number, min = 0) =>
  fc.uniqueArray(value(max, min), { minLength: 1, maxLength: 3 }).map((values) => values.join(','))
const step = (max: number) => fc.integer({ min: 1, max }).map((every) => `*/${every}`)
const range = (max: number, min = 0) =>
  fc.tuple(value(max, min), value(max, min)).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
const field = (max: number, min = 0) =>
  fc.oneof(fc.constant('*'), list(max, min), step(max), range(max, min))
const days = (max: number, min = 0) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, { weight: 1, arbitrary: field(max, min) })
const minutes = field(59)
const hours = field(23)

const SOME_MINUTE = fc
  .integer({
    min: Date.parse('2024-02-25T00:00Z') / MINUTE_MS,
    max: Date.parse('2032-12-31T00:00Z') / MINUTE_MS,
  })
  .map((at) => at * MINUTE_MS)
/** Clocks change soon after, somewhere. */
const BEFORE_CHANGE = fc
  .constantFrom(
    '2026-03-28T20:00Z',
    '2026-10-24T20:00Z',
    '2026-03-08T04:00Z',
    '2026-11-01T03:00Z',
    '2026-04-23T18:00Z',
    '2026-10-03T12:00Z',
  )
  .map((at) => Date.parse(at))
const START = fc.oneof(SOME_MINUTE, BEFORE_CHANGE)
const ZONE = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Africa/Cairo',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Pacific/Auckland',
  'America/Havana',
)

/** Walks every minute with nothing but the clock of the zone: says which of them cron would run. */
function* walk(cron: string, timezone: string, from: number, until: number): Generator<number> {
  const fields = parseCronFields(cron)
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'short',
  })
  const wall = (at: number): number => {
    const [, day, month, year, hour, minute] = (
      /(\d+)\/(\d+)\/(\d+), (\d+):(\d+)/.exec(format.format(at)) ?? []
    ).map(Number)
    return Date.UTC(year ?? 0, (month ?? 0) - 1, day, hour, minute)
  }
  const shows = (local: number): boolean => {
    const date = new Date(local)
    const byMonth = fields.daysOfMonth.has(date.getUTCDate())
    const byWeek = fields.daysOfWeek.has(date.getUTCDay())
    return (
      fields.minutes.includes(date.getUTCMinutes()) &&
      fields.hours.includes(date.getUTCHours()) &&
      fields.months.has(date.getUTCMonth() + 1) &&
      (fields.eitherDay ? byMonth || byWeek : byMonth && byWeek)
    )
  }
  // Three hours before, so that a minute that comes again is known.
  let latest = wall(from - 181 * MINUTE_MS)
  for (let at = from - 180 * MINUTE_MS; at <= until; at += MINUTE_MS) {
    const now = wall(at)
    if (fields.byInterval) {
      if (at > from && shows(now)) yield at
    } else {
      // Every minute of the clock that was not shown yet, those that it jumped over too.
      let due = false
      for (let local = latest + MINUTE_MS; local <= now; local += MINUTE_MS) due ||= shows(local)
      if (at > from && due) yield at
    }
    latest = Math.max(latest, now)
  }
}

describe('the next run', () => {
  test('is what a walk through the minutes finds', () => {
    const expression = fc.tuple(
      minutes,
      hours,
      days(31, 1),
      fc.oneof(fc.constant('*'), list(12, 1)),
      days(6),
    )
    fc.assert(
      fc.property(expression, ZONE, START, (fields, timezone, from) => {
        const cron = fields.join(' ')
        const until = from + 3 * DAY_MS
        const walked = walk(cron, timezone, from, until).take(20).toArray()
        const schedule = parseSchedule({ cron, timezone })
        const computed: number[] = []
        for (let at: number | undefined = from; computed.length < 20;) {
          at = nextTick(schedule, at, from)
          if (at === undefined || at > until) break
          computed.push(at)
        }
        expect(computed).toEqual(walked)
      }),
      { numRuns: 80 },
    )
  }, 60_000)
})

describe('a rate', () => {
  test.each([
    ['rate(1 minute)', ['2026-03-01T10:08Z', '2026-03-01T10:09Z']],
    ['rate(5 minutes)', ['2026-03-01T10:12Z', '2026-03-01T10:17Z']],
    ['rate(1 hour)', ['2026-03-01T11:07Z', '2026-03-01T12:07Z']],
    ['rate(2 days)', ['2026-03-03T10:07Z', '2026-03-05T10:07Z']],
  ])('%s counts from when it was set', (cron, runs) => {
    expect(nextRuns({ cron }, '2026-03-01T10:07:41Z', 2)).toEqual(runs)
  })
})

describe('due ticks', () => {
  const at = (time: string) => Date.parse(time)
  const due = (cron: string, from: string, now: string) =>
    coalesce(parseSchedule({ cron }), {
      due: at(from),
      now: at(now),
      since: at('2026-01-01T00:00Z'),
    })

  test('are one when it is looked at in time', () => {
    expect(due('*/5 * * * *', '2026-03-01T10:05Z', '2026-03-01T10:05:01Z')).toEqual({
      last: at('2026-03-01T10:05Z'),
      missed: 0,
      next: at('2026-03-01T10:10Z'),
    })
  })

  test('become the last of them after a pause of the scheduler', () => {
    expect(due('*/5 * * * *', '2026-03-01T10:05Z', '2026-03-01T12:04Z')).toEqual({
      last: at('2026-03-01T12:00Z'),
      missed: 23,
      next: at('2026-03-01T12:05Z'),
    })
    expect(due('rate(1 hour)', '2026-03-01T10:00Z', '2026-03-01T13:30Z')).toEqual({
      last: at('2026-03-01T13:00Z'),
      missed: 3,
      next: at('2026-03-01T14:00Z'),
    })
  })

  test('are counted for a month at most, and never lost', () => {
    const { last, missed, next } = due('* * * * *', '2020-01-01T00:00Z', '2026-03-01T00:00Z')
    expect([last, next]).toEqual([at('2026-03-01T00:00Z'), at('2026-03-01T00:01Z')])
    expect(missed).toBe(31 * 24 * 60)
    expect(due('0 0 1 1 *', '2024-01-01T00:00Z', '2025-12-01T00:00Z')).toEqual({
      last: at('2024-01-01T00:00Z'),
      missed: 0,
      next: at('2026-01-01T00:00Z'),
    })
  })
})
