import { CONSOLE_SETTINGS, type Settings } from './inspect-options.ts'
import { widthOf } from './inspect-text.ts'
import { inspect } from './inspect.ts'
import { isArray, isView } from './primordials.ts'

const MAX_ROWS = 100
const MAX_COLUMNS = 50
const CELL: Settings = { ...CONSOLE_SETTINGS, depth: 1, compact: true, room: 2_000 }

/** `console.table` as Deno draws it; undefined for what has no rows. */
export function renderTable(
  data: unknown,
  wanted: readonly unknown[] | undefined,
): string | undefined {
  if (typeof data !== 'object' || data === null) return undefined
  const rows = rowsOf(data)
  const columns = (wanted?.map(String) ?? columnsOf(rows)).slice(0, MAX_COLUMNS)
  const header = [isIterated(data) ? '(iter idx)' : '(idx)', ...columns]
  const hasValues = wanted === undefined && rows.some(([, row]) => !isRow(row))
  if (hasValues && !(data instanceof Map)) header.push('Values')
  const body = rows.map(([index, row]) => [
    index,
    ...columns.map((column) =>
      isRow(row) && column in row ? inspect(Reflect.get(row, column), CELL) : '',
    ),
    ...(hasValues ? [isRow(row) ? '' : inspect(row, CELL)] : []),
  ])
  return draw(header, body)
}

const isIterated = (data: object): boolean =>
  data instanceof Map || data instanceof Set || isView(data)

type Row = readonly [string, unknown]

const isRow = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

function rowsOf(data: object): readonly Row[] {
  if (data instanceof Map)
    return [...data]
      .slice(0, MAX_ROWS)
      .map(([key, value], index) => [`${index}`, { Key: key, Values: value }])
  if (data instanceof Set)
    return [...data].slice(0, MAX_ROWS).map((value, index) => [`${index}`, value])
  return rowKeys(data).map((key) => [key, Reflect.get(data, key)])
}

function rowKeys(data: object): readonly string[] {
  if (!isArray(data) && !isView(data)) return Object.keys(data).slice(0, MAX_ROWS)
  const length = Math.min(Number(Reflect.get(data, 'length')) || 0, MAX_ROWS)
  return Array.from({ length }, (_, index) => `${index}`)
}

/** In the order in which an object would have them: those that are numbers first. */
function columnsOf(rows: readonly Row[]): readonly string[] {
  const seen: Record<string, true> = {}
  for (const [, row] of rows) if (isRow(row)) for (const key of rowKeys(row)) seen[key] = true
  return Object.keys(seen)
}

function draw(header: readonly string[], body: readonly (readonly string[])[]): string {
  const columns = header.map((title, column) =>
    columnOf([title, ...body.map((row) => row[column] ?? '')]),
  )
  const rule = (left: string, middle: string, right: string) =>
    left + columns.map(({ width }) => '─'.repeat(width + 2)).join(middle) + right
  const line = (cells: readonly string[], isHeader: boolean) =>
    `│ ${columns.map((column, at) => padded(cells[at] ?? '', column, isHeader)).join(' │ ')} │`
  return [
    rule('┌', '┬', '┐'),
    line(header, true),
    rule('├', '┼', '┤'),
    ...body.map((cells) => line(cells, false)),
    rule('└', '┴', '┘'),
  ].join('\n')
}

interface Column {
  readonly width: number
  /** Integers stand at the right. */
  readonly right: boolean
}

const columnOf = ([title = '', ...cells]: readonly string[]): Column => ({
  width: Math.max(...[title, ...cells].map((cell) => widthOf(cell, CELL))),
  right: cells.every((cell) => Number.isInteger(Number(cell))),
})

function padded(cell: string, { width, right }: Column, isHeader: boolean): string {
  const blanks = ' '.repeat(width - widthOf(cell, CELL))
  return right && !isHeader ? blanks + cell : cell + blanks
}
