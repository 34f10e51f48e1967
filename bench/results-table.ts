import { type Claim, claimsOf, verdictOf } from './claims.ts'
import type { ColdCalls } from './croft/cold-calls.ts'
import { columns } from './load/load-table.ts'
import type { Measurements } from './measurements.ts'
import { median, quantile } from './median.ts'
import { SUBJECTS, type SubjectName } from './subject.ts'

const NAMES = {
  'elysia-echo': 'plain Elysia echo on Bun',
  workerd: 'workerd',
  cached: 'Croft, cached operation',
  warm: 'Croft, warm operation',
  'warm-10-sites': 'Croft, warm, 10 sites',
} as const satisfies Record<SubjectName, string>
const HEADINGS = ['', 'conns', 'req/s', '× workerd', 'p50 ms', 'p99 ms', 'CPU µs/req', 'others']

export interface Results {
  readonly measured: Measurements
  readonly cold: ColdCalls | undefined
  readonly connections: readonly number[]
}

/** What is printed, and what the results file holds: rates, then cold calls, then the claims. */
export const resultsText = (results: Results): string =>
  [
    columns([HEADINGS, ...rateRows(results)]),
    ...coldLines(results.cold),
    columns(claimsOf(results.measured, results.cold).map(claimRow)),
    ...faultLines(results),
  ].join('\n\n')

function rateRows({ measured, connections }: Results): string[][] {
  return connections.flatMap((count) =>
    SUBJECTS.flatMap((subject) =>
      measured.samples(subject, count).length === 0 ? [] : [rateRow(measured, subject, count)],
    ),
  )
}

function rateRow(measured: Measurements, subject: SubjectName, connections: number): string[] {
  const figure = (name: Parameters<Measurements['figure']>[2]) =>
    measured.figure(subject, connections, name)
  return [
    NAMES[subject],
    String(connections),
    figure('perSecond').toFixed(0),
    fixed(measured.ratio([subject, 'workerd'], connections, 'perSecond'), 2),
    figure('p50Ms').toFixed(3),
    figure('p99Ms').toFixed(2),
    figure('cpuUsPerRequest').toFixed(1),
    `${(figure('othersShare') * 100).toFixed(0)} %`,
  ]
}

function coldLines(cold: ColdCalls | undefined): string[] {
  if (cold === undefined) return []
  const { firstMs, secondMs } = cold
  return [
    `cold site, ${firstMs.length} publishes: first call p50 ${median(firstMs).toFixed(2)} ms, ` +
      `p90 ${quantile(firstMs, 0.9).toFixed(2)} ms, max ${Math.max(...firstMs).toFixed(2)} ms; ` +
      `second call p50 ${median(secondMs).toFixed(2)} ms`,
  ]
}

const claimRow = (claim: Claim): string[] => [
  claim.words,
  `${fixed(claim.value, 2)} ${claim.unit}`,
  `${claim.bound} ${claim.target} ${claim.unit}`,
  verdictOf(claim),
]

/** A figure counts only while every answer was right, so what was not is said. */
function faultLines({ measured, connections }: Results): string[] {
  return connections.flatMap((count) =>
    SUBJECTS.flatMap((subject) =>
      measured.samples(subject, count).flatMap(({ errors, firstFault }) => {
        const kinds = Object.entries(errors).map(([kind, times]) => `${kind} ${times}×`)
        if (kinds.length === 0) return []
        return [
          `NOT CLEAN: ${NAMES[subject]} at ${count}: ${kinds.join(', ')} (${firstFault ?? ''})`,
        ]
      }),
    ),
  )
}

const fixed = (value: number, digits: number): string =>
  Number.isNaN(value) ? '–' : value.toFixed(digits)
