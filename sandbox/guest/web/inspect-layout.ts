import { floor, indexOf, join, max, min, padEnd, padStart, push, repeat } from './primordials.ts'

const BREAK_LENGTH = 80
/** This many inner levels may share a line. */
const COMPACT = 3
const CHAR_HEIGHT = 2.5
const SEPARATOR = 2

export interface Layout {
  /** The depth of what was formatted last: entries far above it get lines of their own. */
  deepest: number
  indentation: number
}

export interface Entries {
  readonly prefix: string
  readonly open: string
  readonly close: string
  readonly output: readonly string[]
  readonly level: number
  /** For a list: how many of the entries are items, and whether all are numbers. Long lists are put in columns. */
  readonly items?: { readonly count: number; readonly numbers: boolean }
}

/** Joins entries on one line where they fit, else one a line: the layout of Node's `util.inspect`. */
export function layOut(layout: Layout, entries: Entries): string {
  const { close, level, open, prefix } = entries
  const head = prefix === '' ? '' : `${prefix} `
  const output = entries.output.length > 6 ? columns(layout, entries) : entries.output
  if (layout.deepest - level < COMPACT && output === entries.output) {
    const start = output.length + layout.indentation + open.length + prefix.length + 10
    if (fitsOneLine(output, start) && indexOf(prefix, '\n') === -1) {
      const joined = join(output, ', ')
      if (indexOf(joined, '\n') === -1) return `${head}${open} ${joined} ${close}`
    }
  }
  const indent = `\n${repeat(' ', layout.indentation)}`
  return `${head}${open}${indent}  ${join(output, `,${indent}  `)}${indent}${close}`
}

function fitsOneLine(output: readonly string[], start: number): boolean {
  let total = output.length + start
  if (total + output.length > BREAK_LENGTH) return false
  for (let index = 0; index < output.length; index++) total += output[index]?.length ?? 0
  return total <= BREAK_LENGTH
}

function columns(layout: Layout, { items, output }: Entries): readonly string[] {
  if (items === undefined) return output
  const { count, numbers } = items
  const lengths: number[] = []
  for (let index = 0; index < count; index++) push(lengths, textAt(output, index).length)
  const perLine = columnCount(layout, lengths, output.length)
  if (perLine <= 1) return output
  const rows: string[] = []
  let text = ''
  for (let index = 0; index < count; index++) {
    const column = index % perLine
    const last = column === perLine - 1 || index === count - 1
    text += cell(textAt(output, index), columnWidth(lengths, column, perLine), { numbers, last })
    if (!last) continue
    push(rows, text)
    text = ''
  }
  for (let index = count; index < output.length; index++) push(rows, textAt(output, index))
  return rows
}

const textAt = (list: readonly string[], index: number): string => list[index] ?? ''

function cell(text: string, width: number, at: { numbers: boolean; last: boolean }): string {
  if (at.last) return at.numbers ? padStart(text, width - SEPARATOR, ' ') : text
  return at.numbers ? padStart(`${text}, `, width, ' ') : padEnd(`${text}, `, width, ' ')
}

/** As many columns as make the block about square; 1 when the items are too uneven or too long. */
function columnCount(layout: Layout, lengths: readonly number[], outputLength: number): number {
  let longest = 0
  let total = 0
  for (let index = 0; index < lengths.length; index++) {
    longest = max(longest, lengths[index] ?? 0)
    total += (lengths[index] ?? 0) + SEPARATOR
  }
  const width = longest + SEPARATOR
  if (width * 3 + layout.indentation >= BREAK_LENGTH) return 1
  if (total / width <= 5 && longest > 6) return 1
  const biased = max(width - 3 - Math.sqrt(width - total / outputLength), 1)
  return min(
    Math.round(Math.sqrt(CHAR_HEIGHT * biased * lengths.length) / biased),
    floor((BREAK_LENGTH - layout.indentation) / width),
    COMPACT * 4,
    15,
  )
}

function columnWidth(lengths: readonly number[], column: number, perLine: number): number {
  let width = 0
  for (let index = column; index < lengths.length; index += perLine)
    width = max(width, lengths[index] ?? 0)
  return width + SEPARATOR
}
