import { host, type PrintLevel } from './host.ts'
import { CONSOLE_SETTINGS, readSettings, type Settings } from './inspect-options.ts'
import { widthOf } from './inspect-text.ts'
import { inspect } from './inspect.ts'
import { performance } from './performance.ts'
import {
  apply,
  create,
  defineProperty,
  isArray,
  join,
  push,
  repeat,
  slice,
  split,
  toText,
  hasOwn,
  indexOf,
  jsonStringify,
  toWellFormed,
  isView,
} from './primordials.ts'

const { parseInt: parseInteger, parseFloat: parseFloating } = Number

/** Characters of one console line. */
const MAX_LINE = 65_536

const MAX_ROWS = 100
const MAX_COLUMNS = 50
const CELL: Settings = { ...CONSOLE_SETTINGS, depth: 1, compact: true, room: 2_000 }

type Printer = (...args: unknown[]) => void

const MAX_GROUP_INDENT = 40
const GROUP_INDENT = 2
const MAX_LABELS = 1000

/** Where the time that passed is shown with fewer digits. */
const DIGITS: readonly (readonly [below: number, digits: number])[] = [
  [1, 3],
  [10, 2],
  [100, 1],
]

/** Methods whose first argument is a label. */
const LABELLED = ['count', 'countReset', 'time', 'timeLog', 'timeEnd']

const counts = new Map<string, number>()
const started = new Map<string, number>()
let indent = 0

/** The options that `console.dir` cannot set. */
const BOUNDS = { room: CONSOLE_SETTINGS.room, throws: false } as const

/** A namespace of its own kind, as the standard has it. */
const namespacePrototype = {}

/**
 * https://console.spec.whatwg.org, on the host's log, formatted as Deno does it. No method throws but what the label of a count or
 * a timer throws when it becomes text.
 */
export const console = create(namespacePrototype) as Readonly<Record<string, Printer>>

const methods: Readonly<Record<string, Printer>> = {
  log: printer('info'),
  debug: printer('debug'),
  info: printer('info'),
  dir: (value, options) => print('info', format([value], { ...readSettings(options), ...BOUNDS })),
  dirxml: printer('info'),
  warn: printer('warn'),
  error: printer('error'),
  assert: (condition, ...args) => {
    if (!condition) assertion(args)
  },
  count: (label) => {
    const key = labelOf(label)
    const count = (counts.get(key) ?? 0) + 1
    if (counts.size < MAX_LABELS || counts.has(key)) counts.set(key, count)
    // Not indented in a group, as Deno has it.
    host.print('info', `${key}: ${count}`)
  },
  countReset: (label) => {
    const key = labelOf(label)
    if (counts.has(key)) counts.set(key, 0)
    else print('warn', `Count for '${key}' does not exist`)
  },
  table: (data, columns) =>
    print('info', renderTable(data, isArray(columns) ? columns : undefined) ?? format([data])),
  time: (label) => {
    const key = labelOf(label)
    if (started.has(key)) print('warn', `Timer '${key}' already exists`)
    else if (started.size < MAX_LABELS) started.set(key, performance.now())
  },
  timeLog: (label, ...args) => elapsed(labelOf(label), args),
  timeEnd: (label) => {
    const key = labelOf(label)
    elapsed(key, [])
    started.delete(key)
  },
  group: openGroup,
  groupCollapsed: openGroup,
  groupEnd: () => {
    if (indent > 0) indent -= GROUP_INDENT
  },
  clear: () => {
    indent = 0
  },
  trace: (...args) =>
    print('debug', `Trace${args.length > 0 ? `: ${format(args)}` : ''}${frames()}`),
  profile: () => {},
  profileEnd: () => {},
  timeStamp: () => {},
}

type Row = readonly [string, unknown]

interface Column {
  readonly width: number
  /** Integers are aligned right. */
  readonly right: boolean
}

for (const [name, method] of Object.entries(methods))
  defineProperty(console, name, {
    value: guarded(name, method),
    writable: true,
    configurable: true,
    enumerable: true,
  })

defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true })

/** A console that throws would turn a log line into a failure of the site. */
function guarded(name: string, method: Printer): Printer {
  const isLabelled = LABELLED.includes(name)
  const call: Printer = (...args) => {
    if (isLabelled && args[0] !== undefined) args[0] = toText(args[0])
    try {
      apply(method, undefined, args)
    } catch {
      host.print('error', `[console.${name}: a value that cannot be shown]`)
    }
  }
  defineProperty(call, 'name', { value: name, configurable: true })
  defineProperty(call, 'length', { value: 0, configurable: true })
  return call
}

function printer(level: PrintLevel): Printer {
  return (...args) => print(level, format(args))
}

function print(level: PrintLevel, text: string): void {
  const line = text.length > MAX_LINE ? `${slice(text, 0, MAX_LINE)}...` : text
  host.print(level, indent === 0 ? line : indented(line))
}

function indented(text: string): string {
  const margin = repeat(' ', indent > MAX_GROUP_INDENT ? MAX_GROUP_INDENT : indent)
  return margin + join(split(text, '\n'), `\n${margin}`)
}

function assertion(args: unknown[]): void {
  const [first, ...rest] = args
  if (typeof first === 'string') print('error', format([`Assertion failed: ${first}`, ...rest]))
  else
    print('error', args.length === 0 ? 'Assertion failed' : format(['Assertion failed:', ...args]))
}

function openGroup(...args: unknown[]): void {
  if (args.length > 0) print('info', format(args))
  indent += GROUP_INDENT
}

function elapsed(label: string, args: unknown[]): void {
  const start = started.get(label)
  if (start === undefined) {
    print('warn', `Timer '${label}' does not exist`)
    return
  }
  print('info', format([`${label}: ${milliseconds(performance.now() - start)}ms`, ...args]))
}

function milliseconds(passed: number): string {
  const digits = DIGITS.find(([below]) => passed < below)?.[1] ?? 0
  return passed.toFixed(digits)
}

const labelOf = (label: unknown): string =>
  label === undefined ? 'default' : slice(toText(label), 0, 200)

function frames(): string {
  const stack = new Error('trace').stack ?? ''
  const lines = split(stack, '\n')
  const kept: string[] = []
  for (let index = 4; index < lines.length; index++) push(kept, lines[index] ?? '')
  return kept.length === 0 ? '' : `\n${join(kept, '\n')}`
}

/** The arguments of a console call as one line: `%s %d %i %f %j %o %O %c` in the first, the rest inspected. */
function format(args: readonly unknown[], settings: Settings = CONSOLE_SETTINGS): string {
  const first = args[0]
  const { text, used } =
    typeof first === 'string' && args.length > 1
      ? substitute(first, args, settings)
      : { text: '', used: 0 }
  let line = text
  for (let index = used; index < args.length && line.length < MAX_LINE; index++)
    line += (index === 0 ? '' : ' ') + show(args[index], settings)
  const rest = line.length - MAX_LINE
  return toWellFormed(rest > 0 ? `${slice(line, 0, MAX_LINE)}... ${rest} more characters` : line)
}

const show = (value: unknown, settings: Settings): string =>
  typeof value === 'string' ? value : inspect(value, settings)

function substitute(
  template: string,
  args: readonly unknown[],
  settings: Settings,
): { text: string; used: number } {
  let text = ''
  let used = 1
  let copied = 0
  for (let at = indexOf(template, '%'); at !== -1; at = indexOf(template, '%', at + 2)) {
    const verb = slice(template, at + 1, at + 2)
    if (verb === '%') {
      text += slice(template, copied, at + 1)
      copied = at + 2
      continue
    }
    if (used >= args.length) continue
    const shown = directive(verb, args[used], settings)
    if (shown === undefined) continue
    text += slice(template, copied, at) + shown
    copied = at + 2
    used++
  }
  return { text: text + slice(template, copied), used }
}

/** A symbol is no number, and has no text that could be one. */
const numeric =
  (parse: (text: string) => number) =>
  (value: unknown): string =>
    typeof value === 'symbol' ? 'NaN' : `${parse(toText(value))}`

function directive(verb: string, value: unknown, settings: Settings): string | undefined {
  if (!hasOwn(DIRECTIVES, verb)) return undefined
  try {
    return DIRECTIVES[verb]?.(value, settings)
  } catch {
    return '[value that cannot be shown]'
  }
}

function formatJson(value: unknown): string {
  try {
    return jsonStringify(value) ?? 'undefined'
  } catch (error) {
    if (error instanceof TypeError) return '[Circular]'
    throw error
  }
}

const DIRECTIVES: Readonly<Record<string, (value: unknown, settings: Settings) => string>> = {
  s: toText,
  d: numeric(parseInteger),
  i: numeric(parseInteger),
  f: numeric(parseFloating),
  j: formatJson,
  o: inspect,
  O: inspect,
  c: () => '',
}

/** `console.table` as Deno draws it; undefined for what has no rows. */
function renderTable(data: unknown, wanted: readonly unknown[] | undefined): string | undefined {
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

const columnOf = ([title = '', ...cells]: readonly string[]): Column => ({
  width: Math.max(...[title, ...cells].map((cell) => widthOf(cell, CELL))),
  right: cells.every((cell) => Number.isInteger(Number(cell))),
})

function padded(cell: string, { width, right }: Column, isHeader: boolean): string {
  const blanks = ' '.repeat(width - widthOf(cell, CELL))
  return right && !isHeader ? blanks + cell : cell + blanks
}
