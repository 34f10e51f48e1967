import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { Histogram } from './histogram.ts'

const filled = (values: readonly number[]) => {
  const histogram = new Histogram()
  for (const value of values) histogram.record(value)
  return histogram
}

const exact = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? Number.NaN
}

const latencies = fc.array(
  fc.oneof(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 0, max: 2 ** 31 - 1 })),
  { minLength: 1, maxLength: 400 },
)

describe('a histogram', () => {
  test('answers every quantile at or above the exact one, by at most 1/512', () => {
    fc.assert(
      fc.property(latencies, fc.double({ min: 0, max: 1, noNaN: true }), (values, share) => {
        const [found, wanted] = [filled(values).quantileUs(share), exact(values, share)]
        expect(found).toBeGreaterThanOrEqual(wanted)
        expect(found).toBeLessThanOrEqual(wanted * (1 + 1 / 512))
      }),
    )
  })

  test('keeps count, mean and maximum exactly', () => {
    fc.assert(
      fc.property(latencies, (values) => {
        const histogram = filled(values)
        expect(histogram.count).toBe(values.length)
        expect(histogram.maxUs).toBe(Math.max(...values))
        expect(histogram.meanUs).toBeCloseTo(
          values.reduce((sum, value) => sum + value, 0) / values.length,
          3,
        )
      }),
    )
  })

  test('is exact below a millisecond', () => {
    expect(filled([120, 130, 999, 1000]).quantileUs(0.5)).toBe(130)
    expect(filled([120, 130, 999, 1000]).quantileUs(0.75)).toBe(999)
  })

  test('rounds up, and cuts what is longer than it can hold', () => {
    expect(filled([0.2]).maxUs).toBe(1)
    expect(filled([1e12]).quantileUs(1)).toBe(2 ** 31 - 1)
  })

  test('is all zero while empty', () => {
    const { count, maxUs, meanUs } = new Histogram()
    expect({ count, maxUs, meanUs }).toEqual({ count: 0, maxUs: 0, meanUs: 0 })
    expect(new Histogram().quantileUs(0.99)).toBe(0)
  })
})
