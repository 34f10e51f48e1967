import type { Items, Kind, Walk } from './inspect-kinds.ts'
import { floor, indexOf, join, max, min, padEnd, padStart, push, repeat } from './primordials.ts'

const BREAK_LENGTH = 80
/** This many inner levels may share a line. */
const COMPACT = 3
const CHAR_HEIGHT = 2.5
const SEPARATOR = 2

/** Joins entries on one line where they fit, else one a line: the layout of Node's `util.inspect`. */
export function layOut(walk: Walk, kind: Kind, { items, level, output }: Entries): string {
  const { base = '', close = '}', open = '{' } = kind
  if (output.length === 0) return open + close
  const start = base === '' ? open : `${base} ${open}`
  const rows = columns(walk, items, output)
  if (walk.deepest - level < COMPACT && rows === output) {
    const joined = join(output, ', ')
    const taken = output.length + walk.indentation + open.length + base.length + 10
    if (fitsOneLine(output, taken) && indexOf(base + joined, '\n') === -1)
      return `${start} ${joined} ${close}`
  }
  const indent = `\n${repeat(' ', walk.indentation)}`
  return `${start}${indent}  ${join(rows, `,${indent}  `)}${indent}${close}`
}

interface Entries {
  readonly output: readonly string[]
  readonly level: number
  readonly items: Items | undefined
}

function fitsOneLine(output: readonly string[], start: number): boolean {
  let total = output.length + start
  if (total + output.length > BREAK_LENGTH) return false
  for (let index = 0; index < output.length; index++) total += output[index]?.length ?? 0
  return total <= BREAK_LENGTH
}

function columns(walk: Walk, items: Items | undefined, output: readonly string[]) {
  if (items === undefined || output.length <= 6) return output
  const { count, numbers } = items
  const lengths: number[] = []
  for (let index = 0; index < count; index++) push(lengths, textAt(output, index).length)
  const perLine = columnCount(walk, lengths, output.length)
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
function columnCount(walk: Walk, lengths: readonly number[], outputLength: number): number {
  let longest = 0
  let total = 0
  for (let index = 0; index < lengths.length; index++) {
    longest = max(longest, lengths[index] ?? 0)
    total += (lengths[index] ?? 0) + SEPARATOR
  }
  const width = longest + SEPARATOR
  if (width * 3 + walk.indentation >= BREAK_LENGTH) return 1
  if (total / width <= 5 && longest > 6) return 1
  const biased = max(width - 3 - Math.sqrt(width - total / outputLength), 1)
  return min(
    Math.round(Math.sqrt(CHAR_HEIGHT * biased * lengths.length) / biased),
    floor((BREAK_LENGTH - walk.indentation) / width),
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
