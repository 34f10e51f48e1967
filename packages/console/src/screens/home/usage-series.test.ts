import { expect, test } from 'vitest'

import { periodUntil, seriesOf, startOf } from './usage-series.ts'

const NOW = Date.parse('2026-11-30T12:34:56Z')
const hour = (at: string, calls: number, errors = 0) => ({
  hour: at,
  calls,
  errors,
  cpuMs: 2 * calls,
})

test('a day has a point for each hour, up to the current one', () => {
  const period = periodUntil('24h', NOW)
  expect(new Date(startOf(period)).toISOString()).toBe('2026-11-29T13:00:00.000Z')
  const series = seriesOf(
    [
      hour('2026-11-29T12:00:00Z', 100),
      hour('2026-11-29T13:00:00Z', 1),
      hour('2026-11-30T12:00:00Z', 3, 1),
      hour('2026-11-30T12:00:00Z', 4),
    ],
    period,
  )
  expect(series).toHaveLength(24)
  expect(series[0]).toMatchObject({ at: startOf(period), calls: 1, cpuMs: 2 })
  expect(series.at(-1)).toMatchObject({ calls: 7, errors: 1, cpuMs: 14 })
  expect(series.reduce((sum, { calls }) => sum + calls, 0)).toBe(8)
})

test('thirty days have a point for each', () => {
  const period = periodUntil('30d', NOW)
  const series = seriesOf(
    [hour('2026-11-30T00:00:00Z', 2), hour('2026-11-29T13:00:00Z', 3)],
    period,
  )
  expect(series).toHaveLength(30)
  expect(series.at(-1)?.calls).toBe(5)
})
