import { parseArgs } from 'node:util'

import { SUBJECT_ROWS, SUBJECTS, type SubjectName, WORKLOAD_NAMES } from './subject.ts'

const COLD = 'cold'

export const USAGE = `usage: npm run bench -- [options]
  --quick        one short round, for a look; writes no results file
  --rounds N     1 to 20, medians are taken over them          3
  --only A[,B…]  of ${SUBJECTS.join(', ')}, ${COLD};
                 or all of a workload: ${WORKLOAD_NAMES.join(', ')}; writes no results file`

export interface BenchOptions {
  readonly rounds: number
  readonly warmupMs: number
  readonly durationMs: number
  /** Of one sample, while others keep the machine busy. */
  readonly maxTries: number
  /** Publishes that the cold site is measured over; 0 leaves it out. */
  readonly publishes: number
  readonly subjects: readonly SubjectName[]
  readonly writesResults: boolean
}

const FULL = { rounds: 3, warmupMs: 1500, durationMs: 2500, publishes: 40, maxTries: 2 }
const QUICK = { rounds: 1, warmupMs: 500, durationMs: 1000, publishes: 10, maxTries: 1 }

/** Throws an Error that says what to do about the arguments. */
export function parseBenchOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      only: { type: 'string' },
    },
  })
  const named = namedBy(values.only)
  const { publishes, ...times } = values.quick ? QUICK : FULL
  return {
    ...times,
    rounds: values.rounds === undefined ? times.rounds : roundsOf(values.rounds),
    publishes: named.includes(COLD) ? publishes : 0,
    subjects: SUBJECTS.filter(
      (name) => named.includes(name) || named.includes(SUBJECT_ROWS[name].workload),
    ),
    writesResults: !values.quick && values.only === undefined,
  }
}

function roundsOf(text: string): number {
  const rounds = Number(text)
  if (Number.isInteger(rounds) && rounds >= 1 && rounds <= 20) return rounds
  throw new Error(`--rounds must be a whole number from 1 to 20, not "${text}"`)
}

function namedBy(only: string | undefined): readonly string[] {
  const known: readonly string[] = [...SUBJECTS, ...WORKLOAD_NAMES, COLD]
  const named = only?.split(',').map((name) => name.trim()) ?? known
  const unknown = named.find((name) => !known.includes(name))
  if (unknown === undefined) return named
  throw new Error(`--only: there is no "${unknown}"; there are ${known.join(', ')}`)
}
