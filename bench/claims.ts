import type { ColdCalls } from './croft/cold-calls.ts'
import type { Measurements } from './measurements.ts'
import { median } from './median.ts'

/** What this installation promises, and what came out. */
export interface Claim {
  readonly words: string
  /** NaN when it was not measured. */
  readonly value: number
  readonly target: number
  readonly bound: 'at least' | 'at most'
  readonly unit: '×' | 'ms'
}

export type Verdict = 'PASS' | 'MISS' | 'not measured'

export const claimsOf = (measured: Measurements, cold: ColdCalls | undefined): Claim[] => [
  {
    words: 'warm operation / workerd, requests/s at 32 connections',
    value: measured.ratio(['warm', 'workerd'], 32, 'perSecond'),
    target: 2,
    bound: 'at least',
    unit: '×',
  },
  {
    words: 'warm operation / workerd, p50 at 1 connection',
    value: measured.ratio(['warm', 'workerd'], 1, 'p50Ms'),
    target: 1.2,
    bound: 'at most',
    unit: '×',
  },
  {
    words: 'cached operation / plain Elysia echo, requests/s at 32 connections',
    value: measured.ratio(['cached', 'elysia-echo'], 32, 'perSecond'),
    target: 0.5,
    bound: 'at least',
    unit: '×',
  },
  {
    words: 'cold site, p50 of the first call after a publish',
    value: median(cold?.firstMs ?? []),
    target: 10,
    bound: 'at most',
    unit: 'ms',
  },
]

export function verdictOf({ value, target, bound }: Claim): Verdict {
  if (Number.isNaN(value)) return 'not measured'
  return (bound === 'at least' ? value >= target : value <= target) ? 'PASS' : 'MISS'
}
