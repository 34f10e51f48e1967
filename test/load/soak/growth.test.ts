import { describe, expect, test } from 'vitest'

import { growthPerMinute } from './growth.ts'

const readings = (life: number, values: readonly number[]) =>
  values.map((value, minute) => ({ life, minute: life * 10 + minute, value }))

describe('growth per minute', () => {
  test('is the slope within the lives of a process, not the step between them', () => {
    const all = [...readings(1, [100, 103, 106]), ...readings(2, [10, 13, 16])]
    expect(growthPerMinute(all)).toBeCloseTo(3)
  })

  test('is nothing when the value goes up and comes down', () => {
    expect(growthPerMinute(readings(1, [5, 9, 5, 9, 5]))).toBeCloseTo(0)
  })

  test('is nothing where there is too little to tell', () => {
    expect(growthPerMinute([])).toBe(0)
    expect(growthPerMinute(readings(1, [7]))).toBe(0)
  })
})
