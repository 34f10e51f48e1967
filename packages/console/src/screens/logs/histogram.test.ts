import fc from 'fast-check'
import { expect, test } from 'vitest'

import { histogramOf } from './histogram.ts'
import type { LogLine } from './log-filter.ts'

const line = (at: number, level = 'info'): LogLine => ({
  logId: '1',
  message: '',
  at: new Date(at).toISOString(),
  level,
  kind: 'console',
  operation: null,
  requestId: null,
})

test('counts by level in bars of a round length', () => {
  const start = Date.parse('2026-11-30T12:00:10Z')
  const { bars, ...sums } = histogramOf([
    line(start + 90_000, 'error'),
    line(start + 91_000, 'warn'),
    line(start, 'debug'),
  ])
  expect(sums).toEqual({ highest: 2, error: 1, warn: 1, other: 1 })
  expect(bars.at(-19)).toMatchObject({ from: start, to: start + 5000, other: 1 })
  expect(bars).toHaveLength(24)
  expect(bars.at(-1)).toMatchObject({ to: start + 95_000, error: 1, warn: 1, other: 0 })
  expect(bars.at(-2)).toMatchObject({ error: 0, warn: 0 })
})

test('has no bar without lines', () => {
  expect(histogramOf([]).bars).toEqual([])
})

test('puts every line in one of at most 60 bars, whatever the time between them', () => {
  const time = fc.integer({ min: 0, max: Date.parse('2100-01-01') })
  fc.assert(
    fc.property(fc.array(time, { minLength: 1 }), (times) => {
      const { bars, other } = histogramOf(times.map((at) => line(at)))
      expect(other).toBe(times.length)
      expect(bars.reduce((sum, bar) => sum + bar.other, 0)).toBe(times.length)
      expect(bars.length).toBeLessThanOrEqual(60)
    }),
  )
})
