import type { LoadReport } from './load-run.ts'
import type { LatencySummary, TallySummary } from './tally.ts'

const HEADINGS = ['', 'answers', 'errors', 'p50 ms', 'p90', 'p99', 'p99.9', 'max'] as const

/** What people read: one line for all, and one for each tenant when there are several. */
export function loadTable(report: LoadReport): string {
  const tallies = report.tenants.length > 1 ? [report.total, ...report.tenants] : [report.total]
  const { total, ownDelayMs } = report
  const notes = [
    `${report.succeededPerSecond.toFixed(0)} requests/s as expected, over ${report.seconds.toFixed(2)} s`,
    `generator's own delay: p99 ${ownDelayMs.p99.toFixed(3)} ms`,
    ...Object.entries(total.errors).map(([kind, count]) => `${kind}: ${count}`),
    ...(report.firstFault === undefined ? [] : [`first fault: ${report.firstFault}`]),
  ]
  return [columns([[...HEADINGS], ...tallies.map(rowOf)]), '', ...notes].join('\n')
}

/** Cells in columns: the first to the left, numbers to the right. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  )
  const line = (row: readonly string[]) =>
    row.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
    )
  return rows.map((row) => line(row).join('  ').trimEnd()).join('\n')
}

function rowOf(tally: TallySummary): string[] {
  const errors = Object.values(tally.errors).reduce((sum, count) => sum + count, 0)
  return [tally.name, String(tally.succeeded), String(errors), ...latencyCells(tally.latencyMs)]
}

const latencyCells = ({ p50, p90, p99, p999, max }: LatencySummary): string[] =>
  [p50, p90, p99, p999, max].map((ms) => ms.toFixed(2))
