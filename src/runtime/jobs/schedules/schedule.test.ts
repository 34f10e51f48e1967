import { describe, expect, test } from 'vitest'

import { parseSchedule, fromAwsCron } from './schedule.ts'

describe('an AWS expression', () => {
  test.each([
    ['0 12 * * ? *', '0 12 * * *'],
    ['15 10 ? * 2-6 *', '15 10 * * 1-5'],
    ['15 10 ? * 1,7 *', '15 10 * * 0,6'],
    ['0 18 ? * MON-FRI *', '0 18 * * MON-FRI'],
    ['0/10 * ? * MON *', '0-59/10 * * * MON'],
    ['5/15 8-17/2 1 1/3 ? *', '5-59/15 8-17/2 1 1-12/3 *'],
    ['0 0 ? * 2/2 *', '0 0 * * 1-6/2'],
  ])('cron(%s) means %s', (inside, fields) => {
    expect(fromAwsCron(inside)).toBe(fields)
    expect(parseSchedule({ cron: `cron(${inside})` })).toEqual(parseSchedule({ cron: fields }))
  })

  test.each([
    ['0 12 * * ?', '5 fields'],
    ['0 12 * * ? 2030', 'year'],
    ['0 12 * * * *', '"?"'],
    ['0 12 ? * ? *', '"?"'],
    ['0 12 L * ? *', '"L"'],
    ['0 12 ? * 6#3 *', '"#"'],
    ['0 12 ? * 0 *', 'day of the week'],
  ])('cron(%s) is refused', (inside, words) => {
    expect(() => parseSchedule({ cron: `cron(${inside})` })).toThrow(words)
  })
})

test('a range may end where it starts, on a Sunday that is 7, and be given by names', () => {
  const of = (cron: string) => parseSchedule({ cron })
  expect(of('0 0 * * 6-7')).toEqual(of('0 0 * * 6,0'))
  expect(of('5-5 22-23,0-2 * jan-MAR SUN-tue')).toEqual(of('5 0,1,2,22,23 * 1,2,3 0,1,2'))
})

describe('a schedule is refused', () => {
  test.each([
    ['* * * * * *', 'the finest schedule is one minute'],
    ['0 */5 * * * *', 'leave out the field for seconds'],
    ['* * * *', 'has 4 fields'],
    ['60 * * * *', '"60" is not a valid minute'],
    ['* 24 * * *', '"24" is not a valid hour'],
    ['* * 0 * *', '"0" is not a valid day of month'],
    ['* * * 13 *', '"13" is not a valid month'],
    ['* * * * 8', '"8" is not a valid day of week'],
    ['*/0 * * * *', 'minute'],
    ['a * * * *', '"a"'],
    ['0 0 L * *', '"L"'],
    ['0 0 15W * *', '"W"'],
    ['0 0 * * 5#2', '"#"'],
    ['@daily', 'five fields'],
    ['rate(0 minutes)', 'a rate is written as'],
    ['rate(5 seconds)', 'a rate is written as'],
    ['rate(1 minutes)', 'write "rate(1 minute)"'],
    ['rate(2 hour)', 'write "rate(2 hours)"'],
    ['rate(1000 days)', 'at most 366 days'],
    ['', 'has 1 field'],
    ['0 22-2 * * *', '"22-2" runs backwards: write "22-23,0-2"'],
    ['50-10/5 * * * *', '"50-10" runs backwards: write "50-59,0-10"'],
    ['0 0 1,28-3 * *', 'write "28-31,1-3"'],
    ['0 0 1 NOV-February *', '"NOV-February" runs backwards: write "11-12,1-2"'],
    ['0 0 * * 5-1', 'write "5-6,0-1"'],
    ['0 0 * * fri-SUN', '"fri-SUN" runs backwards: write "5-6,0"'],
    ['cron(0 12 ? * 7-1 *)', '"7-1" runs backwards: write "7,1"'],
    ['cron(0 12 ? * FRI-MON *)', 'write "6-7,1-2"'],
    // Ranges of such a length would be written out, for seconds.
    ['0-999999999999 * * * *', '"999999999999" is larger'],
    ['0 0 1 1-999999999 *', 'is larger'],
    ['0 0 * * 0-99999999', 'is larger'],
    ['cron(0/999999999 * * * ? *)', 'is larger'],
  ])('for %s', (cron, words) => {
    expect(() => parseSchedule({ cron })).toThrow(words)
  })

  test.each(['Mars/Olympus', '+02:00', 'Berlin', '', 'UTC+1'])('in the zone "%s"', (timezone) => {
    expect(() => parseSchedule({ cron: '0 0 * * *', timezone })).toThrow('IANA time zone')
  })

  test('for a rate with a zone', () => {
    expect(() => parseSchedule({ cron: 'rate(1 day)', timezone: 'Europe/Berlin' })).toThrow(
      'no meaning',
    )
  })
})
