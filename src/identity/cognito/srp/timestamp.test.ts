import { describe, expect, test } from 'vitest'

import { timestampOf, timestampText } from './timestamp.ts'

describe('the time in a claim', () => {
  test.each([
    ['Wed Apr 5 22:42:34 UTC 2017', '2017-04-05T22:42:34.000Z'],
    ['Thu Feb 29 00:00:00 UTC 2024', '2024-02-29T00:00:00.000Z'],
    ['Sun Dec 31 23:59:59 UTC 2023', '2023-12-31T23:59:59.000Z'],
  ])('%s', (text, iso) => {
    expect(timestampOf(text)?.toISOString()).toBe(iso)
    expect(timestampText(new Date(iso))).toBe(text)
  })

  test.each([
    ['a zero before the day', 'Wed Apr 05 22:42:34 UTC 2017'],
    ['another weekday', 'Thu Apr 5 22:42:34 UTC 2017'],
    ['a day that is not', 'Thu Feb 30 00:00:00 UTC 2023'],
    ['a month that is not', 'Wed Foo 5 22:42:34 UTC 2017'],
    ['letters of two months', 'Wed anF 5 22:42:34 UTC 2017'],
    ['an hour that is not', 'Wed Apr 5 24:42:34 UTC 2017'],
    ['another zone', 'Wed Apr 5 22:42:34 CET 2017'],
    ['ISO', '2017-04-05T22:42:34.000Z'],
    ['more', 'Wed Apr 5 22:42:34 UTC 2017 '],
    ['nothing', ''],
  ])('is not read with %s', (_what, text) => {
    expect(timestampOf(text)).toBeUndefined()
  })
})
