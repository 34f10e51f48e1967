import type { Kind, Walk } from './inspect-kinds.ts'
import type { Settings } from './inspect-options.ts'
import { withoutStyles } from './inspect-style.ts'
import { widthOf } from './inspect-text.ts'
import {
  floor,
  indexOf,
  join,
  max,
  min,
  padEnd,
  padStart,
  push,
  repeat,
  sortTexts,
} from './primordials.ts'

const CHAR_HEIGHT = 2.5
const SEPARATOR = 2
const MAX_COLUMNS = 15
const MIN_GROUPED = 6

interface Entries {
  readonly output: readonly string[]
  readonly level: number
  /** Of a list: whether all its items are numbers. */
  readonly numbers: boolean
}

/** Joins entries on one line where they fit, else one a line: the layout of Node's and Deno's `inspect`. */
export function layOut(walk: Walk, kind: Kind, entries: Entries): string {
  const { base = '', close = '}', open = '{' } = kind
  const braces = { base, open, close }
  if (walk.settings.compact === true) return layOutPacked(walk, braces, entries.output)
  const rows = kind.list === true ? columns(walk, entries) : entries.output
  const start = base === '' ? open : `${base} ${open}`
  if (rows === entries.output) {
    const line = oneLine(walk, braces, entries)
    if (line !== undefined) return `${start} ${line} ${close}`
  }
  const indent = `\n${repeat(' ', walk.indentation)}`
  const comma = walk.settings.trailingComma ? ',' : ''
  return `${start}${indent}  ${join(rows, `,${indent}  `)}${comma}${indent}${close}`
}

interface Braces {
  readonly base: string
  readonly open: string
  readonly close: string
}

/** Undefined where they hold too many levels, are too long together, or have line feeds. */
function oneLine(
  walk: Walk,
  { base, open }: Braces,
  { level, output }: Entries,
): string | undefined {
  const { settings } = walk
  if (walk.deepest - level >= Number(settings.compact)) return undefined
  const taken = output.length + walk.indentation + open.length + base.length + 10
  if (!fitsOneLine(output, taken, settings)) return undefined
  const joined = join(output, ', ')
  return indexOf(base + joined, '\n') === -1 ? joined : undefined
}

/** `compact: true`: the first entry is on the line of the brace. */
function layOutPacked(
  { indentation, settings }: Walk,
  { base, open, close }: Braces,
  output: readonly string[],
): string {
  const title = base === '' ? '' : ` ${base}`
  if (fitsOneLine(output, output.length, settings) && indexOf(base, '\n') === -1) {
    const joined = join(output, ', ')
    if (indexOf(joined, '\n') === -1) return `${open}${title} ${joined} ${close}`
  }
  const indent = repeat(' ', indentation)
  const line = base === '' && open.length === 1 ? ' ' : `${title}\n${indent}  `
  return `${open}${line}${join(output, `,\n${indent}  `)} ${close}`
}

/** Sorts the entries of an object, or the properties that follow the items of a list. */
export function sortEntries(output: string[], from: number, { sorted }: Settings): string[] {
  if (sorted === false) return output
  const items: string[] = []
  const names: string[] = []
  for (let index = 0; index < output.length; index++)
    push(index < from ? items : names, output[index] as string)
  sortTexts(names, sorted === true ? undefined : sorted)
  for (let index = 0; index < names.length; index++) push(items, names[index] as string)
  return items
}

function fitsOneLine(output: readonly string[], start: number, settings: Settings): boolean {
  let total = output.length + start
  if (total + output.length > settings.breakLength) return false
  for (let index = 0; index < output.length; index++) {
    const text = textAt(output, index)
    total += (settings.colors ? withoutStyles(text) : text).length
  }
  return total <= settings.breakLength
}

function columns(walk: Walk, { output, numbers }: Entries): readonly string[] {
  const { settings } = walk
  if (Number(settings.compact) < 1 || output.length <= MIN_GROUPED) return output
  // The last one says how many more there are.
  const count = output.length - (settings.iterableLimit < output.length ? 1 : 0)
  const lengths: number[] = []
  for (let index = 0; index < count; index++)
    push(lengths, widthOf(textAt(output, index), settings))
  const perLine = columnCount(walk, lengths, output.length)
  if (perLine <= 1) return output
  const rows = rowsOf(output, { lengths, perLine, numbers })
  for (let index = count; index < output.length; index++) push(rows, textAt(output, index))
  return rows
}

interface Grid {
  readonly lengths: readonly number[]
  readonly perLine: number
  readonly numbers: boolean
}

function rowsOf(output: readonly string[], { lengths, perLine, numbers }: Grid): string[] {
  const rows: string[] = []
  let text = ''
  for (let index = 0; index < lengths.length; index++) {
    const column = index % perLine
    const last = column === perLine - 1 || index === lengths.length - 1
    const entry = textAt(output, index)
    // What styles it takes no column.
    const hidden = entry.length - (lengths[index] ?? 0)
    text += cell(entry, columnWidth(lengths, column, perLine) + hidden, { numbers, last })
    if (!last) continue
    push(rows, text)
    text = ''
  }
  return rows
}

const textAt = (list: readonly string[], index: number): string => list[index] ?? ''

function cell(text: string, width: number, at: { numbers: boolean; last: boolean }): string {
  if (at.last) return at.numbers ? padStart(text, width - SEPARATOR, ' ') : text
  return at.numbers ? padStart(`${text}, `, width, ' ') : padEnd(`${text}, `, width, ' ')
}

/** As many columns as make the block about square; 1 when the items are too uneven or too long. */
function columnCount(walk: Walk, lengths: readonly number[], outputLength: number): number {
  const { breakLength, compact } = walk.settings
  let longest = 0
  let total = 0
  for (let index = 0; index < lengths.length; index++) {
    longest = max(longest, lengths[index] ?? 0)
    total += (lengths[index] ?? 0) + SEPARATOR
  }
  const width = longest + SEPARATOR
  if (width * 3 + walk.indentation >= breakLength) return 1
  if (total / width <= 5 && longest > MIN_GROUPED) return 1
  const biased = max(width - 3 - Math.sqrt(width - total / outputLength), 1)
  return min(
    Math.round(Math.sqrt(CHAR_HEIGHT * biased * lengths.length) / biased),
    floor((breakLength - walk.indentation) / width),
    Number(compact) * 4,
    MAX_COLUMNS,
  )
}

function columnWidth(lengths: readonly number[], column: number, perLine: number): number {
  let width = 0
  for (let index = column; index < lengths.length; index += perLine)
    width = max(width, lengths[index] ?? 0)
  return width + SEPARATOR
}
