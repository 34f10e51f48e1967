import { type Item, parseExact, writeExact, writeItem } from './exact-json.ts'

/** What a spreadsheet reads as a formula, when a cell begins with it. */
const FORMULA = /^[=+\-@\t\r]/

/** Items as a list in JSON, one on each line. */
export const writeJsonItems = (items: readonly Item[]): string =>
  items.length === 0 ? '[]\n' : `[\n${items.map((item) => writeItem(item)).join(',\n')}\n]\n`

/**
 * Items as CSV (RFC 4180). A cell is JSON, or text that is not JSON: what is written is read again as the same value. Text that a
 * spreadsheet takes as a formula is quoted as JSON.
 */
export function writeCsvItems(names: readonly string[], items: readonly Item[]): string {
  const lines = items.map((item) => names.map((name) => csvCell(cellText(item[name]))).join(','))
  return [names.map(csvCell).join(','), ...lines, ''].join('\r\n')
}

function cellText(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value !== 'string') return writeExact(value)
  return value === '' || FORMULA.test(value) || isJson(value) ? JSON.stringify(value) : value
}

/** The value of a cell; undefined for an empty one. */
export function cellValue(text: string): unknown {
  if (text === '') return undefined
  try {
    return parseExact(text)
  } catch {
    return text
  }
}

function isJson(text: string): boolean {
  try {
    parseExact(text)
    return true
  } catch {
    return false
  }
}

const csvCell = (text: string): string =>
  /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
