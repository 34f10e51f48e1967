import { describe, expect, test } from 'vitest'

import { ClockSteps } from './clock-steps.ts'

const HOUR_MS = 3_600_000

describe('a clock that is looked at', () => {
  test('was not set while it runs as fast as the steady one, however late the look', () => {
    const steps = new ClockSteps()
    const looks = [0, 1000, 2000, 90_000, 91_500].map((ms) => steps.observe(1e12 + ms, ms))
    expect(looks).toEqual([0, 0, 0, 0, 0])
  })

  test('was set forward and back, each reported once', () => {
    const steps = new ClockSteps()
    const looks = [
      steps.observe(1e12, 0),
      steps.observe(1e12 + 2 * HOUR_MS + 1000, 1000),
      steps.observe(1e12 + 2 * HOUR_MS + 2000, 2000),
      steps.observe(1e12 + 3000, 3000),
      steps.observe(1e12 + 4000, 4000),
    ]
    expect(looks).toEqual([0, 2 * HOUR_MS, 0, -2 * HOUR_MS, 0])
  })
})
