import { type Claim, claimsOf, verdictOf } from './claims.ts'
import type { ColdCalls } from './croft/cold-calls.ts'
import { columns } from './load/load-table.ts'
import type { Measurements } from './measurements.ts'
import { median, quantile } from './median.ts'
import {
  SUBJECT_ROWS,
  SUBJECTS,
  type SubjectName,
  type Workload,
  WORKLOAD_NAMES,
  WORKLOADS,
} from './subject.ts'

const COLD_HEADINGS = ['', 'publishes', 'p50 ms', 'p90 ms', 'max ms']
const CLAIM_HEADINGS = ['', 'measured', 'aim', '']

export interface Results {
  readonly measured: Measurements
  readonly cold: ColdCalls | undefined
}

/** What is printed, and what the results file holds: a section for each workload, then cold calls, then the claims. */
export const resultsText = ({ measured, cold }: Results): string =>
  [
    ...WORKLOAD_NAMES.flatMap((workload) => workloadSection(measured, workload)),
    ...(cold
      ? [section('A site that was just published', [COLD_HEADINGS, ...coldRows(cold)])]
      : []),
    section('Aims', [CLAIM_HEADINGS, ...claimsOf(measured, cold).map(claimRow)]),
    ...faultLines(measured),
  ].join('\n\n')

const section = (words: string, rows: readonly (readonly string[])[]): string =>
  `## ${words}\n\n\`\`\`text\n${columns(rows)}\n\`\`\``

function workloadSection(measured: Measurements, workload: Workload): string[] {
  const { words, connections, base } = WORKLOADS[workload]
  const rows = connections.flatMap((count) =>
    SUBJECTS.flatMap((subject) =>
      SUBJECT_ROWS[subject].workload === workload && measured.samples(subject, count).length > 0
        ? [rateRow(measured, [subject, base], count)]
        : [],
    ),
  )
  const headings = [
    '',
    'conns',
    'req/s',
    `× ${SUBJECT_ROWS[base].words}`,
    'p50 ms',
    'p99 ms',
    'CPU µs',
    'others',
  ]
  return rows.length === 0 ? [] : [section(words, [headings, ...rows])]
}

function rateRow(
  measured: Measurements,
  pair: readonly [subject: SubjectName, base: SubjectName],
  connections: number,
): string[] {
  const [subject] = pair
  const figure = (name: Parameters<Measurements['figure']>[2]) =>
    measured.figure(subject, connections, name)
  return [
    SUBJECT_ROWS[subject].words,
    String(connections),
    figure('perSecond').toFixed(0),
    fixed(measured.ratio(pair, connections, 'perSecond'), 2),
    figure('p50Ms').toFixed(3),
    figure('p99Ms').toFixed(2),
    figure('cpuUsPerRequest').toFixed(1),
    `${(figure('othersShare') * 100).toFixed(0)} %`,
  ]
}

const coldRows = ({ firstMs, secondMs }: ColdCalls): string[][] =>
  [['first call', firstMs] as const, ['second call', secondMs] as const].map(([words, times]) => [
    words,
    String(times.length),
    median(times).toFixed(2),
    quantile(times, 0.9).toFixed(2),
    Math.max(...times).toFixed(2),
  ])

const claimRow = (claim: Claim): string[] => [
  claim.words,
  `${fixed(claim.value, 2)} ${claim.unit}`,
  `${claim.bound} ${claim.target} ${claim.unit}`,
  verdictOf(claim),
]

/** A figure counts only while every answer was right, so what was not is said. */
function faultLines(measured: Measurements): string[] {
  return WORKLOAD_NAMES.flatMap((workload) =>
    WORKLOADS[workload].connections.flatMap((count) =>
      SUBJECTS.flatMap((subject) =>
        measured.samples(subject, count).flatMap(({ errors, firstFault }) => {
          const kinds = Object.entries(errors).map(([kind, times]) => `${kind} ${times}×`)
          if (SUBJECT_ROWS[subject].workload !== workload || kinds.length === 0) return []
          const { words } = SUBJECT_ROWS[subject]
          return [
            `NOT CLEAN: ${words} (${subject}) at ${count}: ${kinds.join(', ')} (${firstFault ?? ''})`,
          ]
        }),
      ),
    ),
  )
}

const fixed = (value: number, digits: number): string =>
  Number.isNaN(value) ? '–' : value.toFixed(digits)
