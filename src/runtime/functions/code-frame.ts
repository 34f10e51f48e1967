import type { TextPlace } from '#base/text-place.ts'

const LINES_BEFORE = 2
const LINES_AFTER = 1
/** Columns that are shown of a line. */
const WIDTH = 100
const MAX_COLUMN = 1_000_000_000

/** The lines around a place, the line itself marked and a caret below the column. */
export function codeFrame(text: string, { line, column }: TextPlace): string | undefined {
  const lines = text.split(/\r\n|[\n\r]/)
  if (line < 1 || line > lines.length) return undefined
  const from = Math.max(1, line - LINES_BEFORE)
  const to = Math.min(lines.length, line + LINES_AFTER)
  const digits = String(to).length
  // One window for all, so that they stay below each other.
  const start = Math.max(0, Math.min(column, MAX_COLUMN) - 1 - WIDTH / 2)
  const shown: string[] = []
  for (let number = from; number <= to; number += 1) {
    const mark = number === line ? '>' : ' '
    const source = windowOf(lines[number - 1] ?? '', start)
    shown.push(`${mark} ${String(number).padStart(digits)} | ${source}`.trimEnd())
    if (number === line) shown.push(`  ${' '.repeat(digits)} | ${' '.repeat(column - 1 - start)}^`)
  }
  return shown.join('\n')
}

/** Each UTF-16 unit is one column, and nothing in it moves a terminal's cursor. */
const windowOf = (line: string, start: number): string =>
  line
    .slice(start, start + WIDTH)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ')
