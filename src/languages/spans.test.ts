import { describe, expect, test } from 'vitest'

import { duration, listed, timeAgo } from './spans.ts'

describe('a time', () => {
  const NOW = new Date('2026-11-28T12:00:00Z')
  test.each([
    ['2026-11-28T12:00:05Z', 'just now'],
    ['2026-11-28T11:59:30Z', 'just now'],
    ['2026-11-28T11:58:10Z', '1 minute ago'],
    ['2026-11-28T10:00:00Z', '2 hours ago'],
    ['2026-11-27T11:00:00Z', 'yesterday'],
    ['2026-11-01T12:00:00Z', '27 days ago'],
    ['2026-09-01T12:00:00Z', '2 months ago'],
    ['2024-11-01T12:00:00Z', '2 years ago'],
  ])('at %s is %s', (then, text) => {
    expect(String(timeAgo(new Date(then), NOW))).toBe(text)
  })
})

describe('a duration', () => {
  test.each([
    [0.2, 'a second', 'eine Sekunde', '1秒'],
    [2, '2 seconds', '2 Sekunden', '2秒'],
    [61, '61 seconds', '61 Sekunden', '61秒'],
    [120, '2 minutes', '2 Minuten', '2分'],
    [899, '15 minutes', '15 Minuten', '15分'],
  ])('of %d seconds is "%s"', (seconds, english, german, japanese) => {
    const text = duration(seconds)
    expect([text.in('en'), text.in('de'), text.in('ja')]).toEqual([english, german, japanese])
  })

  test('has the plurals of Polish', () => {
    expect([1, 2, 5, 22].map((count) => duration(count * 60 * 60).in('pl'))).toEqual([
      '60 minut',
      '120 minut',
      '300 minut',
      '1320 minut',
    ])
    expect([120, 180, 300].map((seconds) => duration(seconds).in('pl'))).toEqual([
      '2 minuty',
      '3 minuty',
      '5 minut',
    ])
  })
})

test('a list is written as its reader writes lists', () => {
  const letters = listed(['a', 'b', 'c'])
  expect([letters.in('en'), letters.in('fr'), letters.in('ja')]).toEqual([
    'a, b and c',
    'a, b et c',
    'a、b、c',
  ])
})
