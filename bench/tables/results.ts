import { OPERATIONS, type Operation, type Rounds } from './rounds.ts'

const NAMES = ['bare SQL', 'tables', 'admin route, HTTP', 'dynalite, HTTP'] as const
const LEAST_SHARE = 0.6
const MOST_TIMES = 2

/** One line for each operation, number of callers and contender. */
export function resultsText(measured: Rounds, callers: readonly number[]): string {
  const lines = OPERATIONS.flatMap((operation) =>
    callers.flatMap((count) =>
      NAMES.flatMap((name) => {
        const of = { name, operation, callers: count }
        const perSecond = measured.figure(of, 'perSecond')
        if (Number.isNaN(perSecond)) return []
        const figures = [
          perSecond.toFixed(0),
          measured.figure(of, 'p50Ms').toFixed(2),
          measured.figure(of, 'p99Ms').toFixed(2),
          measured.figure(of, 'cpuUsPerCall').toFixed(0),
          measured.ratio(of, 'bare SQL', 'perSecond').toFixed(2),
        ]
        return [row([operation, String(count), name, ...figures])]
      }),
    ),
  )
  const head = row(['', 'callers', '', 'per second', 'p50 ms', 'p99 ms', 'CPU µs', '× bare SQL'])
  return [head, ...lines].join('\n')
}

/** Whether the goals are met. */
export function claimsOf(measured: Rounds, callers: readonly number[]): readonly string[] {
  return callers.flatMap((count) => [
    share(measured, 'get', count),
    share(measured, 'put', count),
    times(measured, count),
  ])
}

function share(measured: Rounds, operation: Operation, callers: number): string {
  const of = { name: 'tables', operation, callers }
  const ratio = measured.ratio(of, 'bare SQL', 'perSecond')
  return `${operation}, ${callers} callers: ${ratio.toFixed(2)} × bare SQL (at least ${LEAST_SHARE}): ${verdict(ratio >= LEAST_SHARE)}`
}

function times(measured: Rounds, callers: number): string {
  const of = { name: 'tables', operation: 'query', callers } as const
  const ratio = measured.ratio(of, 'bare SQL', 'p50Ms')
  return `query p50, ${callers} callers: ${ratio.toFixed(2)} × that of bare SQL (at most ${MOST_TIMES}): ${verdict(ratio <= MOST_TIMES)}`
}

const verdict = (met: boolean): string => (met ? 'met' : 'MISS')

const WIDTHS = [6, 8, -18, 11, 8, 8, 8, 11] as const

const row = (cells: readonly string[]): string =>
  cells
    .map((cell, at) => {
      const width = WIDTHS[at] ?? 0
      return width < 0 ? `  ${cell.padEnd(-width)}` : cell.padStart(width)
    })
    .join('')
