import { describe, expect, test } from 'vitest'

import { SchedulingDelay } from './scheduling-delay.ts'

const EVERY_MS = 200

function after(latenesses: readonly number[]): SchedulingDelay {
  const delay = new SchedulingDelay(EVERY_MS, 0)
  let nowMs = 0
  for (const lateMs of latenesses) {
    nowMs += EVERY_MS + lateMs
    delay.tick(nowMs)
  }
  return delay
}

describe('patience', () => {
  test('is what it was given while timers run in time', () => {
    expect(after([0, 0, 0, 0]).patienceMs({ calmMs: 600, steps: 4 })).toBe(600)
  })

  test('grows by the delay of each step while timers run late', () => {
    const delay = after(Array<number>(40).fill(100))
    expect(delay.patienceMs({ calmMs: 600, steps: 4 })).toBeCloseTo(1000, -1)
    expect(delay.patienceMs({ calmMs: 1500, steps: 40 })).toBeCloseTo(5500, -2)
  })

  test('covers a single stop of the process at once', () => {
    expect(after([0, 0, 5000]).patienceMs({ calmMs: 1500, steps: 40 })).toBeGreaterThan(5000)
  })

  test('is back within seconds of calm', () => {
    const delay = after([...Array<number>(40).fill(100), ...Array<number>(25).fill(0)])
    expect(delay.patienceMs({ calmMs: 1500, steps: 40 })).toBeLessThan(1700)
  })
})
