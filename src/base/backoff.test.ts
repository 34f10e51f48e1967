import { describe, expect, test } from 'vitest'

import { backoffMs, doubledMs } from './backoff.ts'

describe('doubledMs', () => {
  test.each([
    [0, 250],
    [1, 500],
    [6, 16_000],
    [7, 30_000],
    [5000, 30_000],
  ])('gives after %i steps %i ms', (steps, expected) => {
    expect(doubledMs(250, steps, 30_000)).toBe(expected)
  })
})

describe('backoffMs', () => {
  test.each([
    [1, 100],
    [2, 200],
    [50, 5000],
  ])('lets attempt %i wait up to %i ms', (attempt, longest) => {
    const waited = (random: number) => backoffMs(attempt, { maxMs: 5000, random: () => random })
    expect([waited(0), waited(0.5), waited(1)]).toEqual([0, longest / 2, longest])
  })
})
