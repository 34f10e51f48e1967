import type { Failure, Tally } from './tally.ts'

/** One group of files: what they came to here and, where it was run, in the runtime beside. */
export interface GroupResult {
  readonly group: string
  readonly files: number
  readonly ours: Tally
  readonly beside: Tally | undefined
}

interface Row {
  readonly group: string
  readonly files: number
  readonly passed: number
  readonly total: number
  readonly skipped: number
  readonly besidePassed: number | undefined
  readonly shared: number | undefined
}

/** A table of the groups and their sum. */
export function reportTable(results: readonly GroupResult[], besideName: string): string {
  const rows = results.map(rowOf)
  const head = ['', 'files', 'passed', 'total', 'skipped']
  if (besideName !== '') head.push(besideName, `of ${besideName}'s`, 'share')
  const lines = [head, ...[...rows, sumOf(rows)].map(cells)]
  const widths = head.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, at) =>
          at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0),
        )
        .join('  '),
    )
    .join('\n')
}

/** One line for each failure; where there is a runtime beside, only what that one passes. */
export const failureLines = (results: readonly GroupResult[]): string[] =>
  results.flatMap(({ ours, beside }) => ours.failures(beside).map(failureLine))

/** For a file that other programs read. */
export const reportJson = (results: readonly GroupResult[]): string =>
  `${JSON.stringify(
    results.map((result) => ({
      ...rowOf(result),
      failures: result.ours.failures(undefined),
      besideFailures: result.beside?.failures(undefined),
    })),
    undefined,
    2,
  )}\n`

const failureLine = ({ file, name, message }: Failure): string =>
  `${file}: ${name}: ${message}`.replaceAll(/[\r\n]+/g, ' ')

function rowOf({ group, files, ours, beside }: GroupResult): Row {
  return {
    group,
    files,
    passed: ours.passed.size,
    total: ours.passed.size + ours.failed.size,
    skipped: ours.skipped.size,
    besidePassed: beside?.passed.size,
    shared: beside && ours.sharedWith(beside),
  }
}

function sumOf(rows: readonly Row[]): Row {
  const sum = (read: (row: Row) => number): number =>
    rows.reduce((total, row) => total + read(row), 0)
  const isBeside = rows.some((row) => row.shared !== undefined)
  return {
    group: 'together',
    files: sum((row) => row.files),
    passed: sum((row) => row.passed),
    total: sum((row) => row.total),
    skipped: sum((row) => row.skipped),
    besidePassed: isBeside ? sum((row) => row.besidePassed ?? 0) : undefined,
    shared: isBeside ? sum((row) => row.shared ?? 0) : undefined,
  }
}

function cells({ group, files, passed, total, skipped, besidePassed, shared }: Row): string[] {
  const own = [group, `${files}`, `${passed}`, `${total}`, `${skipped}`]
  if (besidePassed === undefined || shared === undefined) return own
  const share = besidePassed === 0 ? '–' : `${((100 * shared) / besidePassed).toFixed(1)} %`
  return [...own, `${besidePassed}`, `${shared}`, share]
}
