import type { ColdCalls } from './croft/cold-calls.ts'
import type { Figure, Measurements } from './measurements.ts'
import { median } from './median.ts'
import type { SubjectName } from './subject.ts'

/** What is aimed at, and what came out. */
export interface Claim {
  readonly words: string
  /** NaN when it was not measured. */
  readonly value: number
  readonly target: number
  readonly bound: 'at least' | 'at most'
  readonly unit: '×' | 'ms' | 'µs'
}

export type Verdict = 'PASS' | 'MISS' | 'not measured'

interface Ratio {
  readonly words: string
  readonly of: readonly [SubjectName, SubjectName]
  readonly at: number
  readonly figure: Figure
  readonly target: number
}

const RATES: readonly Ratio[] = [
  rate('warm operation / workerd', ['warm', 'workerd'], 32, 2.5),
  rate('warm operation / workerd', ['warm', 'workerd'], 256, 3.2),
  rate('warm, 10 sites / workerd', ['warm-10-sites', 'workerd'], 32, 2),
  rate('warm, 100 sites / workerd', ['warm-100-sites', 'workerd'], 32, 1.6),
  rate('cached operation / Elysia on Bun, bare', ['cached', 'elysia-echo'], 32, 0.8),
]
/** CPU microseconds a call at 32 connections. */
const COSTS: readonly (readonly [words: string, subject: SubjectName, target: number])[] = [
  ['warm operation', 'warm', 20],
  ['warm, 10 sites', 'warm-10-sites', 28],
  ['cached operation', 'cached', 13],
]

export const claimsOf = (measured: Measurements, cold: ColdCalls | undefined): Claim[] => [
  ...RATES.map(({ words, of, at, figure, target }) =>
    atLeast(`${words}, requests/s at ${at} connections`, measured.ratio(of, at, figure), target),
  ),
  ...COSTS.map(([words, subject, target]) =>
    atMost(
      `${words}, CPU of a call at 32 connections`,
      [measured.figure(subject, 32, 'cpuUsPerRequest'), target],
      'µs',
    ),
  ),
  atMost(
    'warm operation / workerd, p50 at 1 connection',
    [measured.ratio(['warm', 'workerd'], 1, 'p50Ms'), 0.95],
    '×',
  ),
  atMost(
    'cold site, p50 of the first call after a publish',
    [median(cold?.firstMs ?? []), 3],
    'ms',
  ),
]

export function verdictOf({ value, target, bound }: Claim): Verdict {
  if (Number.isNaN(value)) return 'not measured'
  return (bound === 'at least' ? value >= target : value <= target) ? 'PASS' : 'MISS'
}

function rate(words: string, of: Ratio['of'], at: number, target: number): Ratio {
  return { words, of, at, figure: 'perSecond', target }
}

const atLeast = (words: string, value: number, target: number): Claim => ({
  words,
  value,
  target,
  bound: 'at least',
  unit: '×',
})

const atMost = (
  words: string,
  [value, target]: readonly [value: number, target: number],
  unit: Claim['unit'],
): Claim => ({ words, value, target, bound: 'at most', unit })
