import { describe, expect, test } from 'vitest'

import { type Claim, claimsOf, verdictOf } from './claims.ts'
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

const measuredOf = (claims: readonly Claim[]) =>
  claims
    .filter((claim) => verdictOf(claim) !== 'not measured')
    .map((claim) => [claim.words, verdictOf(claim)])

describe('the claims', () => {
  test('compare within each round, then take the median', () => {
    const measured = new Measurements()
    for (const [warm, workerd] of [
      [1000, 400],
      [300, 100],
      [5000, 5000],
    ] as const) {
      measured.add('warm', 256, sample({ perSecond: warm }))
      measured.add('workerd', 256, sample({ perSecond: workerd }))
    }
    expect(measured.ratio(['warm', 'workerd'], 256, 'perSecond')).toBe(2.5)
    expect(measured.figure('warm', 256, 'perSecond')).toBe(1000)
    expect(measuredOf(claimsOf(measured, undefined))).toEqual([
      ['warm operation / workerd, requests/s at 256 connections', 'MISS'],
    ])
  })

  test('miss on the wrong side of the target, and pass on it', () => {
    const measured = new Measurements()
    measured.add('warm', 1, sample({ p50Ms: 0.95 }))
    measured.add('workerd', 1, sample({ p50Ms: 1 }))
    measured.add('cached', 32, sample({ perSecond: 799, cpuUsPerRequest: 13 }))
    measured.add('elysia-echo', 32, sample({ perSecond: 1000 }))
    const cold = { firstMs: [2, 30, 3.1], secondMs: [] }
    expect(measuredOf(claimsOf(measured, cold))).toEqual([
      ['cached operation / Elysia on Bun, bare, requests/s at 32 connections', 'MISS'],
      ['cached operation, CPU of a call at 32 connections', 'PASS'],
      ['warm operation / workerd, p50 at 1 connection', 'PASS'],
      ['cold site, p50 of the first call after a publish', 'MISS'],
    ])
  })
})
