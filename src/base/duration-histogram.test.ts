import { describe, expect, test } from 'vitest'

import { DurationHistogram } from './duration-histogram.ts'

describe('a histogram of durations', () => {
  test('counts each in every bucket that it fits into, its bound included', () => {
    const histogram = new DurationHistogram()
    for (const ms of [0, 0.5, 0.51, 1000, 1000.1, 900_000]) histogram.observe(ms)
    const { buckets, sumSeconds } = histogram.read()
    const counts = new Map(buckets.map(({ seconds, count }) => [seconds, count]))
    expect(counts.get(0.0005)).toBe(2)
    expect(counts.get(0.001)).toBe(3)
    expect(counts.get(1)).toBe(4)
    expect(counts.get(2.5)).toBe(5)
    expect(counts.get(60)).toBe(5)
    expect(counts.get(Infinity)).toBe(6)
    expect(sumSeconds).toBeCloseTo(902.001_11, 8)
  })

  test('is empty before', () => {
    const { buckets, sumSeconds } = new DurationHistogram().read()
    expect(buckets.at(-1)).toEqual({ seconds: Infinity, count: 0 })
    expect(sumSeconds).toBe(0)
  })
})
