import { describe, expect, test } from 'vitest'

import { claimsOf, verdictOf } from './claims.ts'
import { Measurements } from './measurements.ts'
import type { Sample } from './sample.ts'

const sample = (change: Partial<Sample>): Sample => ({
  perSecond: 0,
  p50Ms: 0,
  p99Ms: 0,
  cpuUsPerRequest: 0,
  othersShare: 0,
  generatorShare: 0,
  errors: {},
  firstFault: undefined,
  ...change,
})

describe('the claims', () => {
  test('compare within each round, then take the median', () => {
    const measured = new Measurements()
    for (const [warm, workerd] of [
      [1000, 400],
      [300, 100],
      [5000, 5000],
    ] as const) {
      measured.add('warm', 32, sample({ perSecond: warm }))
      measured.add('workerd', 32, sample({ perSecond: workerd }))
    }
    expect(measured.ratio(['warm', 'workerd'], 32, 'perSecond')).toBe(2.5)
    expect(measured.figure('warm', 32, 'perSecond')).toBe(1000)
    expect(claimsOf(measured, undefined).map(verdictOf)).toEqual([
      'PASS',
      'not measured',
      'not measured',
      'not measured',
    ])
  })

  test('miss on the wrong side of the target, and pass on it', () => {
    const measured = new Measurements()
    measured.add('warm', 1, sample({ p50Ms: 1.2 }))
    measured.add('workerd', 1, sample({ p50Ms: 1 }))
    measured.add('cached', 32, sample({ perSecond: 499 }))
    measured.add('elysia-echo', 32, sample({ perSecond: 1000 }))
    const cold = { firstMs: [9, 30, 10.1], secondMs: [] }
    expect(claimsOf(measured, cold).map(verdictOf)).toEqual([
      'not measured',
      'PASS',
      'MISS',
      'MISS',
    ])
  })
})
