import { inspect } from './inspect.ts'
import { hasOwn, isArray, isView } from './primordials.ts'

const MAX_ROWS = 100
const MAX_COLUMNS = 50

/** `console.table` as Node draws it; undefined for what has no rows. */
export function renderTable(
  data: unknown,
  wanted: readonly unknown[] | undefined,
): string | undefined {
  if (typeof data !== 'object' || data === null) return undefined
  const rows = rowsOf(data)
  const columns = (wanted?.map(String) ?? columnsOf(rows)).slice(0, MAX_COLUMNS)
  const header = ['(index)', ...columns]
  const hasValues = wanted === undefined && rows.some(([, row]) => !isRow(row))
  if (hasValues) header.push('Values')
  const body = rows.map(([index, row]) => [
    index,
    ...columns.map((column) =>
      isRow(row) && hasOwn(row, column) ? cell(Reflect.get(row, column)) : '',
    ),
    ...(hasValues ? [isRow(row) ? '' : cell(row)] : []),
  ])
  return draw(header, body)
}

type Row = readonly [string, unknown]

const isRow = (value: unknown): value is object => typeof value === 'object' && value !== null
const cell = (value: unknown): string => inspect(value, 0)

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

function columnsOf(rows: readonly Row[]): readonly string[] {
  return [...new Set(rows.flatMap(([, row]) => (isRow(row) ? rowKeys(row) : [])))]
}

function draw(header: readonly string[], body: readonly (readonly string[])[]): string {
  const widths = header.map(
    (title, column) => Math.max(title.length, ...body.map((row) => row[column]?.length ?? 0)) + 2,
  )
  const rule = (left: string, middle: string, right: string) =>
    left + widths.map((width) => '─'.repeat(width)).join(middle) + right
  const line = (cells: readonly string[]) =>
    `│${cells.map((text, column) => ` ${text.padEnd((widths[column] ?? 2) - 1)}`).join('│')}│`
  return [
    rule('┌', '┬', '┐'),
    line(header),
    rule('├', '┼', '┤'),
    ...body.map(line),
    rule('└', '┴', '┘'),
  ].join('\n')
}
